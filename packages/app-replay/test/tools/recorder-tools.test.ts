import { copyFileSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { bodyOf, frameLine, frameLines, runLine } from '../../../recording/test/run-lines.ts'
import replay from '../../src/index.ts'
import type { Replay } from '../../src/store.ts'
import { fixtures, openReplay, rowsOf } from '../replay-kit.ts'

verifies('replay:tail', 'tail_recording: gives new frames of a run while it grows, each once', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as Replay
  const one = client()
  await recorder.write('run', bodyOf([runLine, ...frameLines(1, 8)]))
  const first = await one.call('tail_recording', { recording: 'run', limit: 5 })
  t.match(first, { status: 'live', last_frame: 8, next_frame: 8, more: false })
  t.same(
    rowsOf(first.frames).map(({ frame_id }) => frame_id),
    [4, 5, 6, 7, 8],
  )
  t.match(rowsOf(first.frames)[2], { frame_id: 6, pairs_in_contact: 1, converged: true, fastest_body: 1 })
  const none = await one.call('tail_recording', { recording: 'run', after_frame: 8 })
  t.match(none, { frames: [], next_frame: 8, more: false })
  await recorder.write('run', bodyOf([...frameLines(9, 10), frameLine(20)]))
  await recorder.finish('run')
  const next = await one.call('tail_recording', { recording: 'run', after_frame: 8, limit: 2 })
  t.match(next, { status: 'finished', last_frame: 20, next_frame: 10, more: true })
  const rest = await one.call('tail_recording', { recording: 'run', after_frame: next.next_frame })
  t.same(
    rowsOf(rest.frames).map(({ frame_id }) => frame_id),
    [20],
    'over a gap in the ids',
  )
})

verifies(
  'replay:tail',
  'tail_recording: frames without energies are frames, also where the ids have gaps',
  async (t) => {
    const { app, client } = await openReplay(t, [])
    const { recorder } = app.store as Replay
    const one = client()
    const bare = (id: number): string =>
      JSON.stringify({ frame_id: id, bodies: [{ id: 1, position: [0, 0, id], velocity: [0, 0, 1] }] })
    const seen: unknown[] = []
    let after: unknown = 0
    /** Asks for two frames at a time, as long as there are more. */
    const follow = async (pages: number): Promise<void> => {
      for (let i = 0; i < pages; i++) {
        const asked = { recording: 'run', after_frame: after, limit: 2 }
        const { frames, next_frame, more } = await one.call('tail_recording', asked)
        seen.push(...rowsOf(frames).map(({ frame_id }) => frame_id))
        after = next_frame
        t.equal(more, i < pages - 1)
      }
    }
    await recorder.write('run', bodyOf([2, 4, 6, 8, 10].map(bare)))
    await follow(3)
    // From here on there are energies; what came before has none.
    await recorder.write('run', bodyOf([bare(12), '{"run": {"bodies": [{"id": 1, "mass": 1}]}}', bare(14)]))
    await follow(1)
    t.same(seen, [2, 4, 6, 8, 10, 12, 14])
  },
)

verifies(
  'replay:tail',
  'tail_recording: a file of somebody else is copied again when it has changed',
  async (t) => {
    const { folder, client } = await openReplay(t, ['drop'])
    const one = client()
    t.match(await one.call('tail_recording', { recording: 'drop' }), { status: 'file', more: false })
    copyFileSync(join(fixtures, 'stack.db'), join(folder, 'drop.db'))
    t.match(await one.call('tail_recording', { recording: 'drop' }), { reloaded: true })
  },
)

verifies(
  'replay:tail',
  'tail_recording: frames whose parts are not all there yet are left for the next call',
  async (t) => {
    const { client } = await openReplay(t, ['drop'], {
      change: (db) => {
        const last = db.prepare('SELECT max(id) FROM SimulationFrameRecord').pluck().get()
        db.prepare('DELETE FROM SystemEnergyRecord WHERE frame_id > ?').run(Number(last) - 3)
      },
    })
    const one = client()
    const { total_frames } = await one.call('get_metadata', { recording: 'drop' })
    t.match(await one.call('tail_recording', { recording: 'drop' }), { last_frame: Number(total_frames) - 3 })
  },
)

verifies(
  'replay:tail:announced',
  'frames/latest: is announced when frames are stored, and soon again after many',
  async (t) => {
    const { app } = await openReplay(t, [])
    const { recorder } = app.store as Replay
    for (let id = 1; id <= 20; id++) await recorder.write('run', bodyOf([frameLine(id, { contacts: [] })]))
    const uri = 'replay://recordings/run/frames/latest'
    const told = () => app.changes.filter((change) => change === uri).length
    const deadline = Date.now() + 10_000
    while (told() < 2 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10))
    t.ok(told() >= 2, 'the last flush is told too')
    t.ok(told() < 20, `${told()} announcements of 20 flushes`)
  },
)

t.test('list_recordings lists live and finished runs of the recorder as recordings', async (t) => {
  const { app, client } = await openReplay(t, ['drop'])
  const { recorder } = app.store as Replay
  const one = client()
  await recorder.write('run', bodyOf([runLine, ...frameLines(1, 3)]))
  const list = async () => {
    const { count, recordings, others } = await one.call('list_recordings')
    const found = rowsOf(recordings).map(({ recording, total_frames, status }) => [
      recording,
      total_frames,
      status,
    ])
    t.equal(count, found.length)
    t.same(others, [])
    return found.toSorted()
  }
  t.same(await list(), [
    ['drop', 150, undefined],
    ['run', 3, 'live'],
  ])
  await recorder.write('run', bodyOf(frameLines(4, 5)))
  await recorder.finish('run')
  t.same(await list(), [
    ['drop', 150, undefined],
    ['run', 5, 'finished'],
  ])
})

t.test('frame ids of a run with gaps are completed with its first and last frame only', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as Replay
  await recorder.write('gaps', bodyOf([runLine, ...frameLines(2, 3), frameLine(7)]))
  await recorder.write('whole', bodyOf([runLine, ...frameLines(2, 4)]))
  const context = { store: app.store, session: {}, signal: new AbortController().signal, progress: () => {} }
  const frames = replay.resources.find(({ template }) => template.text.endsWith('{frame_id}'))
  const complete = (recording: string) => frames?.complete('frame_id', { recording }, context as never)
  t.same(await complete('gaps'), ['latest', '2', '7'])
  t.same(await complete('whole'), ['latest', '2', '3', '4'])
  t.same((await frames?.complete('recording', {}, context as never))?.toSorted(), ['gaps', 'whole'])
  const one = client()
  t.match(await one.call('get_metadata', { recording: 'gaps' }), {
    total_frames: 3,
    first_frame: 2,
    last_frame: 7,
    contiguous: false,
  })
  t.match(await one.call('get_metadata', { recording: 'whole' }), { total_frames: 3, contiguous: true })
})

t.test('timeline returns 50 events and a cursor for the others', async (t) => {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as Replay
  // The ball touches the floor in every third frame.
  await recorder.write('run', bodyOf([runLine, ...frameLines(1, 240)]))
  await recorder.finish('run')
  const one = client()
  const asked = { recording: 'run', kinds: ['contact_begin'] }
  const first = await one.call('timeline', asked)
  t.equal(rowsOf(first.events).length, 50)
  const rest = await one.call('timeline', { ...asked, cursor: first.next_cursor })
  t.equal(rowsOf(rest.events).length, 30)
  t.equal(rest.next_cursor, null)
})

t.test('close waits until the files of live runs are closed', async (t) => {
  const { app, folder } = await openReplay(t, [])
  const files = () => globSync('data/**/run.db*', { cwd: join(folder, '..') }).map((file) => basename(file))
  await (app.store as Replay).recorder.write('run', bodyOf([runLine, ...frameLines(1, 3)]))
  t.ok(files().includes('run.db-wal'))
  await app.close()
  t.same(files(), ['run.db'], 'SQLite removes the write-ahead log when the last connection closes')
})
