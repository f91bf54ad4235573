import { verifies } from '../../test/verifies.ts'
import { demoApp } from './demo-app.ts'
import { call, openTestCore } from './test-core.ts'

const day = 24 * 60 * 60 * 1000

verifies('app:session:one-object', async (t) => {
  const core = await openTestCore(t, [demoApp().app])
  const answers = await Promise.all(
    ['a', 'a', 'b', 'a'].map((sessionKey) => call(core, 'Demo__count', {}, { sessionKey })),
  )
  t.same(
    answers.map(({ structuredContent }) => structuredContent?.count),
    [1, 2, 1, 3],
  )
})

verifies('app:session:restart', async (t) => {
  const dir = t.testdir()
  const first = await openTestCore(t, [demoApp().app], { dir })
  await call(first, 'Demo__count')
  await call(first, 'Demo__count', {}, { sessionKey: 'other' })
  await first.close()
  const second = await openTestCore(t, [demoApp().app], { dir })
  t.match(await call(second, 'Demo__count'), { structuredContent: { count: 2 } })
})

verifies('app:session:expiry', async (t) => {
  const dir = t.testdir()
  let time = 1_000_000
  const open = () => openTestCore(t, [demoApp().app], { dir, now: () => time })
  let core = await open()
  await call(core, 'Demo__count')
  await core.close()
  time += day - 1
  core = await open()
  t.match(await call(core, 'Demo__count'), { structuredContent: { count: 2 } }, 'an hour short of a day')
  await core.close()
  time += day + 1
  core = await open()
  t.match(await call(core, 'Demo__count'), { structuredContent: { count: 1 } }, 'more than a day later')
})
