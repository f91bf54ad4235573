import { statSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { maxBlankLines } from '../src/formats/lines/line-frames.ts'
import { maxLineBytes } from '../src/formats/lines/line-splitter.ts'
import { contactDataColumn } from '../src/formats/run-schema.ts'
import type { Recorder, RecordingLibrary } from '../src/index.ts'
import { PartQueue } from '../src/recorder/part-queue.ts'
import { folders, libraryOver, until, whole } from './library-kit.ts'
import { frameLine, frameLines, runLine, streamLines } from './run-lines.ts'

async function over(
  t: Test,
  limits: Partial<Parameters<typeof libraryOver>[2]['limits']> = {},
): Promise<RecordingLibrary> {
  const { files, data } = folders(t)
  return libraryOver(t, files, { dir: data, limits })
}

const write = (recorder: Recorder, lines: readonly string[]) => recorder.write('run', streamLines(lines))

t.test('ingest acknowledges and ignores repeated frames', async (t) => {
  const { recorder } = await over(t)
  await write(recorder, [runLine, ...frameLines(1, 10)])
  t.match(await write(recorder, [runLine, ...frameLines(6, 12)]), {
    accepted: 2,
    ignored: 5,
    last_frame_id: 12,
  })
})

t.test(
  'ingest skips blank lines and rejects more than a million in a row',
  inCI(async (t) => {
    const { recorder } = await over(t)
    const blank = ' \n'.repeat(maxBlankLines).slice(0, -1)
    t.match(
      await recorder.write(
        'run',
        streamLines([runLine, frameLine(1), blank, frameLine(2), blank, frameLine(3)], 2 ** 16),
      ),
      { accepted: 3 },
    )
    await t.rejects(recorder.write('run', streamLines([frameLine(4), blank, '', frameLine(5)], 2 ** 16)), {
      code: 'INVALID_FRAME',
      data: { line: maxBlankLines + 2, accepted: 1, last_frame_id: 4 },
    })
  }),
)

t.test('ingest rejects a frame that differs from the stored frame or is out of order', async (t) => {
  const { recorder } = await over(t)
  await write(recorder, [runLine, frameLine(1), frameLine(5)])
  await t.rejects(write(recorder, [frameLine(5, { time: 7 })]), {
    code: 'FRAME_CONFLICT',
    data: { line: 1, frame_id: 5, last_frame_id: 5 },
  })
  await t.rejects(write(recorder, [frameLine(6), frameLine(3)]), {
    code: 'FRAME_CONFLICT',
    data: { line: 2, frame_id: 3, last_frame_id: 6, accepted: 1 },
  })
  await t.rejects(write(recorder, ['{"run": {"gravity": [0, 0, -1.62]}}']), { code: 'FRAME_CONFLICT' })
})

t.test('ingest accepts repeated frames after a later run line describes their bodies', async (t) => {
  const { recorder } = await over(t)
  const forces = [{ force: [1, 0, 0] }]
  /** Body 2 has forces and its own energies. */
  const line = (id: number, change: object = {}): string => {
    const [ball, crate] = JSON.parse(frameLine(id)).bodies
    const energy = { linear_ke: 1, rotational_ke: 0, potential_e: 2, total_e: 3, ...change }
    return frameLine(id, {
      bodies: [ball, { ...crate, id: 4, forces }, { ...crate, energy }],
      contacts: [],
    })
  }
  const lines = Array.from({ length: 10 }, (_, i) => line(i + 1))
  await write(recorder, lines)
  // With these run lines, all computed values change, and body 4 no longer counts as moving.
  const declared = '{"run": {"bodies": [{"id": 1, "mass": 2}, {"id": 4, "is_environment": true}]}}'
  const again = [declared, '{"run": {"gravity": [0, 0, -9.81]}}', ...lines]
  t.match(await write(recorder, again), { accepted: 0, ignored: 10 })
  t.match(await write(recorder, [...again, line(11)]), { accepted: 1, ignored: 10, last_frame_id: 11 })
  await t.rejects(
    write(recorder, [line(11, { total_e: 4 })]),
    { code: 'FRAME_CONFLICT' },
    'rejects a frame with a different sent energy',
  )
  const other = frameLine(11, { bodies: [{ id: 1, position: [0, 0, 9] }], contacts: [] })
  await t.rejects(write(recorder, [other]), { code: 'FRAME_CONFLICT' })
  const fewer = frameLine(11, { bodies: JSON.parse(line(11)).bodies.slice(0, 1), contacts: [] })
  await t.rejects(write(recorder, [fewer]), { code: 'FRAME_CONFLICT' })
})

t.test('ingest accepts gaps in ids, and the summary reports them', async (t) => {
  const library = await over(t)
  const { recorder } = library
  await write(recorder, [runLine, frameLine(1), frameLine(2), frameLine(9)])
  const { recording } = await library.open('run')
  t.match(recording.summary.frames, { total_frames: 3, last_frame: 9, contiguous: false })
  await t.rejects(recording.frame(5), { code: 'FRAME_NOT_FOUND' })
  t.same((await recording.systemEnergy(whole)).length, 3)
})

t.test('ingest reads null, NaN and Infinity as missing numbers', async (t) => {
  const library = await over(t)
  const { recorder } = library
  const position = '[NaN, Infinity, -Infinity]'
  const line = `{"frame_id": 1, "time": null, "bodies": [{"id": 1, "position": ${position}, "velocity": null}]}`
  t.match(await write(recorder, [runLine, line]), { accepted: 1 })
  const [state] = (await (await library.open('run')).recording.frame(1)).states
  t.same(state?.position, { x: null, y: null, z: null })
  t.equal(state?.angular_velocity, null)
})

t.test('ingest rejects invalid lines with the path of the invalid member', async (t) => {
  const { recorder } = await over(t)
  await write(recorder, [runLine])
  const cases: readonly (readonly [string, string])[] = [
    ['not json', ''],
    ['[]', 'the line'],
    ['{"frame": 1}', 'frame'],
    ['{"frame_id": 0}', 'frame_id'],
    ['{"frame_id": 1, "bodies": {}}', 'bodies'],
    ['{"frame_id": 1, "bodies": [{"id": 1}, {"id": 1}]}', 'bodies[1].id'],
    ['{"frame_id": 1, "bodies": [{"id": 1, "velocity": [1, 2]}]}', 'bodies[0].velocity'],
    ['{"frame_id": 1, "bodies": [{"id": 1, "speed": 2}]}', 'bodies[0].speed'],
    ['{"frame_id": 1, "contacts": [{"a": 1, "b": 99}]}', 'contacts[0].b'],
    ['{"frame_id": 1, "contacts": [{"a": 1, "b": 2, "points": [{"mu": 1}]}]}', 'contacts[0].points[0].mu'],
    ['{"frame_id": 1, "solver": {"converged": 1}}', 'solver.converged'],
    ['{"run": {"lambda_unit": "kg"}}', 'run.lambda_unit'],
    ['{"run": {"dt": 0}}', 'run.dt'],
    ['{"run": {"bodies": [{"id": 7, "name": ""}]}}', 'run.bodies[0].name'],
    ['{"run": {"bodies": [{"id": 7, "shape": {"kind": "cone"}}]}}', 'run.bodies[0].shape.kind'],
    ['{"run": {"bodies": [{"id": 7, "shape": {"kind": "sphere"}}]}}', 'run.bodies[0].shape.radius'],
    ['{"run": {"bodies": [{"id": 7, "shape": {"kind": "plane", "size": 1}}]}}', 'run.bodies[0].shape.size'],
    ['{"run": {"bodies": [{"id": 7, "shape": {"kind": "box"}}]}}', 'run.bodies[0].half_extents'],
    ['{"run": {"bodies": [{"id": 7, "position": [0, 0, null]}]}}', 'run.bodies[0].position'],
  ]
  for (const [line, path] of cases)
    await t.rejects(write(recorder, [line]), { code: 'INVALID_FRAME', data: { path, line: 1 } }, line)
  t.match(await recorder.state('run'), { total_frames: 0 })
})

t.test('ingest rejects a line that exceeds the maximum length', async (t) => {
  const { recorder } = await over(t)
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${runLine}\n${frameLine(1)}\n`)
    for (let bytes = 0; bytes <= maxLineBytes; bytes += 2 ** 20) yield Buffer.alloc(2 ** 20, 'x')
  }
  await t.rejects(recorder.write('run', endless()), {
    code: 'INVALID_FRAME',
    data: { line: 3, last_frame_id: 1 },
  })
})

t.test('PartQueue reads 4 MiB ahead while earlier parts are stored', async (t) => {
  let read = 0
  async function* body(): AsyncGenerator<Uint8Array> {
    for (; ; read++) yield Buffer.alloc(2 ** 20)
  }
  const queue = new PartQueue(body())
  for (const count of [4, 8]) {
    await until(() => read === count - 1)
    await setImmediate()
    t.equal((await queue.take()).length, 4)
  }
})

t.test('ingest stores the complete lines of an interrupted body and discards the rest', async (t) => {
  const { recorder } = await over(t)
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${runLine}\n${frameLine(1)}\n${frameLine(2).slice(0, 40)}`)
    throw new Error('connection reset')
  }
  await t.rejects(recorder.write('run', broken()), { code: 'CANCELLED' })
  t.match(await write(recorder, [frameLine(2)]), { accepted: 1, last_frame_id: 2 })
})

t.test(
  'ingest continues a run of the first schema version and infers whether it has contact data',
  async (t) => {
    const { files, data } = folders(t)
    const push = { id: 1, position: [0, 0, 1], velocity: [0, 0, 0], forces: [{ force: [1, 0, 0] }] }
    const lines = {
      touching: frameLines(1, 6),
      silent: [frameLine(1, { contacts: undefined })],
      pushed: [frameLine(1, { contacts: undefined, bodies: [push] })],
    }
    const first = await libraryOver(t, files, { dir: data })
    for (const [name, frames] of Object.entries(lines))
      await first.recorder.write(name, streamLines([runLine, ...frames]))
    await first.close()
    for (const name of Object.keys(lines)) {
      const db = new Database(join(data, 'recordings', `${name}.db`))
      db.exec(
        `ALTER TABLE run DROP COLUMN ${contactDataColumn}; ALTER TABLE body DROP COLUMN details; ALTER TABLE run DROP COLUMN convention;
       ALTER TABLE run DROP COLUMN substeps; ALTER TABLE run DROP COLUMN provenance; ALTER TABLE block DROP COLUMN joints;
       DELETE FROM causeway_migration WHERE version > 1`,
      )
      db.close()
    }
    const library = await libraryOver(t, files, { dir: data })
    const { recorder } = library
    const lacksContacts = async (name: string): Promise<boolean> =>
      (await library.open(name)).recording.summary.missing.includes('collisions')
    t.same([await lacksContacts('touching'), await lacksContacts('silent')], [false, true])
    t.ok(await lacksContacts('pushed'), 'does not count forces as contacts')
    t.match(await recorder.write('touching', streamLines([frameLine(7)])), { accepted: 1 })
    t.match(await recorder.write('silent', streamLines([frameLine(2)])), { accepted: 1 })
    t.same([await lacksContacts('touching'), await lacksContacts('silent')], [false, false])
    await recorder.write('pushed', streamLines([frameLine(2, { contacts: undefined, bodies: [push] })]))
    t.ok(await lacksContacts('pushed'), 'does not count forces as contacts after the migration')
  },
)

t.test("at a run's size limit, ingest reports the last stored frame, which remains stored", async (t) => {
  const library = await over(t, {
    recorder: { maxBytes: 400_000, maxAgeMs: 0, maxLiveRuns: 4, idleMs: 60_000 },
  })
  const { recorder } = library
  await write(recorder, [runLine])
  const failure = await write(recorder, frameLines(1, 5000)).catch((error) => error)
  t.match(failure, {
    code: 'DATA_UNWRITABLE',
    remedy: /at most 400000 bytes.*CAUSEWAY_RECORDINGS_CAP_BYTES/,
    data: { limit_bytes: 400_000 },
  })
  const { last_frame_id, total_frames } = await recorder.state('run')
  t.same([failure.data.accepted, failure.data.last_frame_id ?? 0], [total_frames, last_frame_id ?? 0])
  t.ok(failure.data.line > total_frames)
  t.equal((await library.open('run')).recording.summary.frames?.total_frames ?? 0, total_frames)
  await t.rejects(write(recorder, frameLines(total_frames + 1, 3000)), { code: 'DATA_UNWRITABLE' })
})

t.test('ingest stores pending frames without another request', async (t) => {
  const { recorder } = await over(t)
  const stored: string[] = []
  recorder.onStored((name) => stored.push(name))
  let end = (): void => {}
  async function* paused(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${runLine}\n${frameLine(1)}\n`)
    await new Promise<void>((resolve) => {
      end = resolve
    })
  }
  const answer = recorder.write('run', paused())
  await until(() => stored.length > 0)
  t.match(await recorder.state('run'), { status: 'live', last_frame_id: 1 })
  await t.rejects(write(recorder, [frameLine(2)]), { code: 'RECORDING_IN_USE' })
  await t.rejects(recorder.finish('run'), { code: 'RECORDING_IN_USE' })
  end()
  t.match(await answer, { accepted: 1 })
})

t.test('ingest moves a long stream from the log to the file before the stream ends', async (t) => {
  const { files, data } = folders(t)
  const { recorder } = await libraryOver(t, files, { dir: data })
  const bodies = Array.from({ length: 500 }, (_, i) => ({ id: i + 1, position: [i, 0, 0] }))
  const getSize = () => statSync(join(data, 'recordings', 'run.db'), { throwIfNoEntry: false })?.size ?? 0
  let sent = 0
  async function* stream(): AsyncGenerator<Uint8Array> {
    // The log is checked between two writes. From 600 frames on, the log would be moved during a pause.
    while (getSize() <= 8e6 && sent < 500) {
      sent += 1
      yield Buffer.from(`${frameLine(sent, { bodies, contacts: [] })}\n`)
      if (sent > 100) await pause(20)
    }
  }
  t.match(await recorder.write('run', stream()), { accepted: sent })
  t.ok(sent < 500, `${sent} frames`)
})

t.test('ingest immediately rejects a name that is being imported', async (t) => {
  const { recorder } = await over(t)
  const stored: string[] = []
  recorder.onStored((name) => stored.push(name))
  const slow = new PassThrough()
  slow.write(`${runLine}\n${frameLine(1)}\n`)
  const imported = recorder.importStream('run', slow)
  await until(() => stored.length > 0)
  const inUse = { code: 'RECORDING_IN_USE' }
  await t.rejects(write(recorder, [frameLine(2)]), inUse)
  await t.rejects(recorder.finish('run'), inUse)
  await t.rejects(recorder.remove('run'), inUse)
  await t.rejects(recorder.importStream('run', streamLines([runLine])), inUse)
  slow.end()
  t.match(await imported, { total_frames: 1, status: 'finished' })
})

t.test('a finished run accepts only repeated frames', async (t) => {
  const { recorder } = await over(t)
  await write(recorder, [runLine, ...frameLines(1, 3)])
  t.match(await recorder.finish('run'), { status: 'finished' })
  t.match(await recorder.finish('run'), { status: 'finished' })
  t.match(await write(recorder, frameLines(2, 3)), { accepted: 0, ignored: 2 })
  await t.rejects(write(recorder, [frameLine(4)]), { code: 'RECORDING_FINISHED', data: { last_frame_id: 3 } })
  await t.rejects(recorder.finish('other'), { code: 'RECORDING_NOT_FOUND' })
})

t.test('ingest swaps a pair and its impulses if the first body is an environment body', async (t) => {
  const library = await over(t)
  const { recorder } = library
  const point = {
    point_a: [0, 0, 0],
    point_b: [0, 0, 1],
    tangent1: [1, 0, 0],
    normal_lambda: 2,
    tangent1_lambda: 3,
  }
  const contact = { a: 3, b: 1, normal: [0, 0, 1], points: [point] }
  await write(recorder, [runLine, frameLine(1, { contacts: [contact] })])
  const { collisions, friction_constraints } = await (await library.open('run')).recording.frame(1)
  t.match(collisions, [
    { body_a_id: 1, body_b_id: 0x8000_0003, normal: { z: -1 }, contacts: [{ point_a: { z: 1 } }] },
  ])
  t.match(friction_constraints, [{ normal_lambda: 2, tangent1_lambda: -3 }])
})

t.test('a run older than maxAgeMs is removed when another run is created', async (t) => {
  const { files, data } = folders(t)
  let now = 1_000_000
  const options = {
    dir: data,
    now: () => now,
    limits: { recorder: { maxBytes: 2 ** 30, maxAgeMs: 5000, maxLiveRuns: 4, idleMs: 60_000 } },
  }
  const { recorder } = await libraryOver(t, files, options)
  for (const name of ['one', 'two']) {
    await recorder.write(name, streamLines([runLine, frameLine(1)]))
    await recorder.finish(name)
    now += 4000
  }
  await recorder.write('three', streamLines([frameLine(1, { contacts: [] })]))
  t.same(
    recorder.listRuns().map(({ name }) => name),
    ['three', 'two'],
  )
})
