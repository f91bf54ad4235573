import t from 'tap'
import { restingWorkers, startWorker, workerFile } from '../src/index.ts'
import type { TrialMethods } from './trial-worker.ts'

const start = () =>
  startWorker<TrialMethods>(workerFile('trial-worker', import.meta.url), { name: 'the trial' })

t.test(
  'restingWorkers: bytes are those of the workers that run, and are given back by ending idle ones',
  async (t) => {
    const links = [start(), start(), undefined]
    t.teardown(() => Promise.all(links.map((link) => link?.stop())))
    for (const link of links) await link?.call('sum', [1])
    const memory = restingWorkers(() => links)
    const bytes = await memory.bytes()
    t.ok(bytes > 2 ** 20, `${bytes} bytes`)
    t.ok((await memory.shrink(1)) > 0)
    t.same(
      links.map((link) => link?.isAlive),
      [false, true, undefined],
      'no more than is asked for',
    )
    t.ok((await memory.bytes()) < bytes)
  },
)

t.test('bytes: a worker that stands still holds up nobody who asks for its memory', async (t) => {
  const link = start()
  t.teardown(() => link.stop())
  await link.call('sum', [1])
  const before = await link.bytes()
  let isOver = false
  const standing = link.call('stand', 1500).then(() => {
    isOver = true
  })
  const bytes = await Promise.all([link.bytes(), link.bytes()])
  t.notOk(isOver)
  for (const one of bytes) t.ok(one > 0 && one < 4 * before)
  await standing
  t.ok((await link.bytes()) > 0)
})

t.test('restingWorkers: a worker with a call in hand goes on', async (t) => {
  const link = start()
  t.teardown(() => link.stop())
  const sum = link.call('sum', [1, 2])
  t.equal(await restingWorkers(() => [link]).shrink(1), 0)
  t.equal(await sum, 3)
  await link.stop()
  t.equal(await link.bytes(), 0)
})
