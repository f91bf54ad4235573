import { PassThrough } from 'node:stream'

import { verifies } from '../../../test/verifies.ts'
import type { Replay } from '../src/store.ts'
import { fps, frameLine, kick, runLine } from './falling.ts'
import { openReplay, rowsOf } from './replay-kit.ts'

const seconds = 5

/** The frames of one second of the simulation. */
const second = (n: number): Buffer =>
  Buffer.from(Array.from({ length: fps }, (_, i) => `${frameLine(fps * n + i + 1)}\n`).join(''))

verifies('replay:live', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as Replay
  const engine = new PassThrough()
  engine.write(`${runLine}\n`)
  const recorded = recorder.write('live', engine)
  const flushed: number[] = []
  let stored = (_last: number): void => {}
  recorder.onStored(async (name) => {
    const { last_frame_id } = await recorder.state(name)
    flushed.push(last_frame_id ?? 0)
    stored(last_frame_id ?? 0)
  })
  /** Sends a second of frames; done when all of them are stored. */
  const record = (n: number): Promise<void> =>
    new Promise((resolve) => {
      stored = (last) => last === fps * (n + 1) && resolve()
      engine.write(second(n))
    })
  const [tail, doctor] = [client(), client()]
  const seen: unknown[] = []
  let after: unknown
  const follow = async (): Promise<void> => {
    for (let more: unknown = true; more; ) {
      const page = await tail.call('tail_recording', { recording: 'live', limit: 50, after_frame: after })
      seen.push(...rowsOf(page.frames).map(({ frame_id }) => frame_id))
      after = page.next_frame
      more = page.more
    }
  }
  await record(0)
  after = 0
  for (let n = 1; n < seconds; n++) {
    // The questions are under way while the next second is recorded, which does not wait for their answers.
    const asked = Promise.all([doctor.call('diagnose', { recording: 'live' }), follow()])
    await record(n)
    const [{ findings, frames_checked }] = await asked
    t.ok(Number(frames_checked) >= fps * n, 'what was stored when the question came is in the answer')
    const found = rowsOf(findings).filter(({ severity }) => severity !== 'info')
    if (Number(frames_checked) < kick.frame) t.same(found, [], 'before the fault there is none')
    else if (fps * n > kick.frame)
      t.match(found[0], { kind: 'energy_injection', bodies: [kick.body], frames: { first: kick.frame } })
  }
  engine.end()
  t.match(await recorded, { accepted: fps * seconds, ignored: 0, last_frame_id: fps * seconds })
  await recorder.finish('live')
  await follow()
  t.same(
    seen,
    Array.from({ length: fps * seconds }, (_, i) => i + 1),
    'the client saw every frame once',
  )
  t.same(
    flushed,
    flushed.toSorted((a, b) => a - b),
  )
  t.ok(
    flushed.filter((last) => last % fps === 0).length >= seconds,
    'every second was stored before the next one was sent',
  )
})
