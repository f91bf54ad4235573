/** A recorder whose workers die. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openCatalogue } from '../src/catalogue.ts'
import { openRecorder } from '../src/recorder/recorder.ts'
import { type RecorderWorker, startRecorderWorker } from '../src/worker-link.ts'
import { bodyOf, frameLines, runLine } from './run-lines.ts'

/** A recorder, its workers, and whether those that it starts from now on die at once. */
async function openDoomed(t: Test) {
  const dir = t.testdir()
  const workers: RecorderWorker[] = []
  const state = { isDoomed: false, isFull: false }
  const catalogue = openCatalogue(join(dir, 'recordings.db'), Date.now)
  const recorder = await openRecorder({
    dir,
    catalogue: {
      ...catalogue,
      putRun(entry) {
        if (state.isFull) throw new Error('the disk is full')
        catalogue.putRun(entry)
      },
    },
    startWorker() {
      const link = startRecorderWorker()
      workers.push(link)
      if (state.isDoomed) void link.kill()
      return link
    },
    limits: { bytes: 2 ** 30, ageMs: 0, live: 4, idleMs: 60_000 },
    now: Date.now,
    log: undefined,
    letGo: async () => {},
  })
  t.teardown(async () => {
    await recorder.close()
    catalogue.close()
  })
  const send = (first: number, last: number) =>
    recorder.write('run', bodyOf([runLine, ...frameLines(first, last)]))
  return { recorder, workers, state, send }
}

t.test('recorder: what was acknowledged is told while a dead worker has no successor', async (t) => {
  const { recorder, workers, state, send } = await openDoomed(t)
  t.match(await send(1, 30), { last_frame_id: 30 })
  await workers[0]?.kill()
  state.isDoomed = true
  await t.rejects(send(31, 40), { code: 'WORKER_LOST' })
  t.match(await recorder.state('run'), { total_frames: 30, first_frame_id: 1, last_frame_id: 30 })
  state.isDoomed = false
  t.match(await send(21, 40), { accepted: 10, ignored: 10, last_frame_id: 40 })
})

t.test('recorder: a run that was closed but could not be noted takes further frames', async (t) => {
  const { recorder, state, send } = await openDoomed(t)
  await send(1, 30)
  state.isFull = true
  await t.rejects(recorder.finish('run'), { message: 'the disk is full' })
  state.isFull = false
  await recorder.write('other', bodyOf([runLine, ...frameLines(1, 3)]))
  t.match(await recorder.state('other'), { total_frames: 3 })
  t.match(await send(1, 30), { accepted: 0, ignored: 30 })
  t.match(await recorder.finish('run'), { total_frames: 30, status: 'finished' })
})

t.test('recorder: a run whose worker died is removed, and its name is free', async (t) => {
  const { recorder, workers, send } = await openDoomed(t)
  await send(1, 30)
  await workers[0]?.kill()
  await recorder.remove('run')
  await t.rejects(recorder.state('run'), { code: 'RECORDING_NOT_FOUND' })
  t.match(await send(1, 5), { accepted: 5, last_frame_id: 5 })
})
