import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { spareWorker } from '../src/recorder/spare-worker.ts'
import { startRecorderWorker } from '../src/worker-link.ts'

t.test('spareWorker: one worker is kept for the next run, and the others end', async (t) => {
  const workers = spareWorker(startRecorderWorker)
  t.teardown(() => workers.close())
  const [first, second] = [workers.take(), workers.take()]
  t.not(first, second, 'two runs at once have a worker each')
  await workers.give(first)
  await workers.give(second)
  t.equal(second.isAlive, false)
  t.equal(workers.take(), first)
  await first.stop()
})

t.test('spareWorker: a worker that has died, or that comes back after the end, is not kept', async (t) => {
  const workers = spareWorker(startRecorderWorker)
  const [first, second] = [workers.take(), workers.take()]
  await workers.give(first)
  await first.kill()
  const next = workers.take()
  t.not(next, first)
  await workers.give(next)
  await workers.close()
  await workers.give(second)
  t.same([next.isAlive, second.isAlive], [false, false])
})

t.test('a worker that has closed a run records the next one as if it were new', async (t) => {
  const dir = t.testdir()
  const link = startRecorderWorker()
  t.teardown(() => link.stop())
  const record = async (name: string, text: string) => {
    await link.call('runOpen', { file: join(dir, `${name}.db`), nowMs: 1, bytes: 2 ** 30 })
    await link.call('runWrite', { bytes: Buffer.from(text), nowMs: 1 })
    return link.call('runEnd', { isWhole: true, nowMs: 1 })
  }
  const [body, line] = ['{"id": 1, "position": [0, 0, 1]}', '{"run": {"bodies": [{"id": 1, "mass": 2}]}}']
  t.match(await record('one', `${line}\n{"frame_id": 7, "bodies": [${body}]}\n`), { accepted: 1 })
  // What stands in the middle of a line when the run is closed does not reach the next one.
  await link.call('runWrite', { bytes: Buffer.from('{"frame_id": 8, "bod'), nowMs: 1 })
  await link.call('runClose', undefined)
  t.match(await record('two', '{"frame_id": 1}\n{"frame_id": 2}\n'), {
    accepted: 2,
    ignored: 0,
    first_frame_id: 1,
    last_frame_id: 2,
  })
  await link.call('runClose', undefined)
  t.match(
    readdirSync(dir).filter((file) => file.endsWith('.db')),
    ['one.db', 'two.db'],
  )
})
