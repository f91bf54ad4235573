import { mock } from 'node:test'
import { watchJumps } from '@causeway/store'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { openAudit } from '../src/audit/audit.ts'
import { clientStates } from '../src/client-state.ts'
import { openServerStore } from '../src/server-store.ts'
import { demoApp } from './demo-app.ts'
import { call, captureLog, openTestCore } from './test-core.ts'

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

/** Two clocks that a test moves: both when time passes, one when it is set. */
function makeClocks() {
  const state = { now: 50 * day, steady: 0.5 }
  return {
    now: () => state.now,
    steady: () => state.steady,
    pass(ms: number) {
      state.now += ms
      state.steady += ms
    },
    set(ms: number) {
      state.now += ms
    },
  }
}

t.test('watchJumps: time that passes is no jump, a clock that is set is one, once', async (t) => {
  const clocks = makeClocks()
  const jumped = watchJumps(clocks)
  clocks.pass(3 * day)
  t.equal(jumped(), 0)
  clocks.set(day)
  t.equal(jumped(), day)
  t.equal(jumped(), 0)
  clocks.set(-2 * day)
  t.equal(jumped(), -2 * day)
  clocks.set(500)
  t.equal(jumped(), 0, 'a clock that is set right slowly')
})

t.test(
  'what a client was promised for a day outlives a clock that is set by more, and not the day',
  async (t) => {
    const clocks = makeClocks()
    const store = await openServerStore(`${t.testdir()}/server.db`, clocks)
    t.teardown(() => store.close())
    const handshake = { sessionId: 's', owner: '', mountPath: '/mcp', initialize: {}, subscriptions: [] }
    const { states, handshakes } = store
    await states.save('key', 'Demo', '{"a":1}')
    await handshakes.save(handshake)
    for (const jump of [2 * day, -3 * day]) {
      clocks.set(jump)
      t.equal(await states.load('key', 'Demo'), '{"a":1}')
      t.match(await handshakes.find('s', ''), { sessionId: 's' })
    }
    clocks.pass(day + 1)
    t.equal(await states.load('key', 'Demo'), undefined)
    t.equal(await handshakes.find('s', ''), undefined)
  },
)

t.test('a state that is used and never changes is not forgotten in the file', async (t) => {
  const clocks = makeClocks()
  const store = await openServerStore(`${t.testdir()}/server.db`, clocks)
  t.teardown(() => store.close())
  const { app } = demoApp()
  const states = clientStates(store.states, clocks)
  await states.use('key', app, async (state) => {
    ;(state as { count: number }).count = 7
  })
  for (let hours = 0; hours < 30; hours++) {
    clocks.pass(day / 20)
    await states.use('key', app, async () => {})
  }
  const after = clientStates(store.states, clocks)
  t.equal(await after.use('key', app, async (state) => (state as { count: number }).count), 7)
})

t.test('the audit believes a clock that was set forward once it has lasted', async (t) => {
  const clocks = makeClocks()
  const trims: number[] = []
  const store = {
    append: async () => {},
    query: async () => [],
    trim: async ({ beforeMs }: { readonly beforeMs: number }) => {
      trims.push(beforeMs)
      return 0
    },
  }
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const { log } = captureLog()
  const audit = openAudit({ store: store as never, keepDays: 1, maxRows: 1000, log, ...clocks })
  clocks.set(10 * day)
  mock.timers.tick(60 * 60 * 1000)
  t.equal(trims.length, 1, 'not at once')
  mock.timers.tick(60 * 60 * 1000)
  t.same(trims, [49 * day, 59 * day])
  await audit.close()
})
