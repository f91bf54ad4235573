import { join } from 'node:path'
import { workerFile } from '@causeway/worker'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { loadRecording } from '../src/loaded-recording.ts'
import { startRecordingWorker } from '../src/worker-link.ts'
import { whole } from './library-kit.ts'
import { bodyId, writeRecording } from './write-recording.ts'

const identity = { id: 'run', path: '/recordings/run.db', name: 'run.db', size_bytes: 1 }

verifies('recording:worker:dies', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 50 })
  const link = startRecordingWorker()
  const loaded = await loadRecording(link, { key: 'key', file, identity, startWorker: startRecordingWorker })
  t.teardown(() => loaded.release())
  // In hand is what was posted; a question of this very moment goes to the next worker.
  const calls = Array.from({ length: 100 }, () => link.call('bodyEnergy', { body: bodyId, range: whole }))
  const ended = Promise.allSettled(calls)
  const [next] = [loaded.recording.frame(1), await link.kill()]
  t.equal((await next).frame_id, 1)
  for (const result of await ended) {
    if (result.status === 'rejected') t.match(result.reason, { code: 'WORKER_LOST', remedy: /call again/ })
  }
  t.ok(
    (await ended).some(({ status }) => status === 'rejected'),
    'a call that was in hand fails',
  )
  t.equal((await loaded.recording.frame(2)).frame_id, 2)
  t.equal(loaded.isOpen, true)
})

verifies(
  'recording:worker:dies',
  'one that is let go answers the next question by another worker',
  async (t) => {
    const file = join(t.testdir(), 'copy.db')
    writeRecording(file, { frames: 10 })
    const loaded = await loadRecording(startRecordingWorker(), {
      key: 'key',
      file,
      identity,
      startWorker: startRecordingWorker,
    })
    t.teardown(() => loaded.release())
    const [before, released] = [loaded.recording.frame(1), loaded.release()]
    t.equal(loaded.isOpen, false)
    const after = await loaded.recording.frame(2)
    await released
    t.same([(await before).frame_id, after.frame_id], [1, 2], 'neither is lost with the thread')
  },
)

verifies('limits:worker:isolated', 'an analysis that ends its worker ends no other call', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 10 })
  const startWorker = () => startRecordingWorker(workerFile('counting-worker', import.meta.url))
  const loaded = await loadRecording(startWorker(), { key: 'key', file, identity, startWorker })
  t.teardown(() => loaded.release())
  const runaway = t.rejects(loaded.recording.analyse('die', {}), { code: 'WORKER_LOST' })
  const harmless = [1, 2, 3].map((frame) => loaded.recording.frame(frame))
  t.same(
    (await Promise.all(harmless)).map(({ frame_id }) => frame_id),
    [1, 2, 3],
  )
  await runaway
})

t.test('startRecordingWorker: an error of the worker keeps its code and its data', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 2 })
  const loaded = await loadRecording(startRecordingWorker(), {
    key: 'key',
    file,
    identity,
    startWorker: startRecordingWorker,
  })
  t.teardown(() => loaded.release())
  await t.rejects(loaded.recording.frame(3), {
    code: 'FRAME_NOT_FOUND',
    data: { frame_id: 3, first_frame: 1, last_frame: 2 },
  })
})

t.test('startRecordingWorker: what is not an error for clients says nothing of the inside', async (t) => {
  const link = startRecordingWorker()
  t.teardown(() => link.kill())
  await t.rejects(link.call('frame', { frame: 1 }), {
    code: 'INTERNAL',
    message: 'reading the recording failed',
  })
})

t.test('startRecordingWorker: columns are moved, whole', async (t) => {
  const file = join(t.testdir(), 'copy.db')
  writeRecording(file, { frames: 20 })
  const loaded = await loadRecording(startRecordingWorker(), {
    key: 'key',
    file,
    identity,
    startWorker: startRecordingWorker,
  })
  t.teardown(() => loaded.release())
  const { fields, length, data } = await loaded.recording.systemEnergy(whole)
  t.same([length, fields.length, data.length], [20, 9, 180])
  t.equal(data[fields.length + fields.indexOf('frame_id')], 2)
})
