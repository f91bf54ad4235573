import { execFileSync } from 'node:child_process'
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { sample } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { contactDataColumn } from '../src/formats/run-schema.ts'
import {
  type Frame,
  libraryDefaults,
  openLibrary,
  type Recording,
  type RecordingLibrary,
} from '../src/index.ts'
import { createRoots, folders, libraryOver, whole } from './library-kit.ts'
import { frameLine, frameLines, runLine, streamLines } from './run-lines.ts'

t.setTimeout(300_000)

const fixtures = new URL('../../../fixtures/recordings/', import.meta.url).pathname

const named = (library: RecordingLibrary, name: string) =>
  library.open(name).then(({ recording }) => recording)

async function readFrames(recording: Recording): Promise<readonly Frame[]> {
  const { first_frame = 1, last_frame = 0 } = recording.summary.frames ?? {}
  return Promise.all(
    Array.from({ length: last_frame - first_frame + 1 }, (_, i) => recording.frame(first_frame + i)),
  )
}

/** Exports a run to a file. */
async function exportTo(library: RecordingLibrary, name: string, file: string): Promise<void> {
  const { file: made } = await library.recorder.export(name)
  renameSync(made, file)
}

t.test('an export has the tables of the C++ recorder', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  await library.recorder.write('run', streamLines([runLine, ...frameLines(1, 3)]))
  await exportTo(library, 'run', join(files, 'out.db'))
  const db = new Database(join(files, 'out.db'), { readonly: true })
  const made = db
    .prepare<[], string>(`SELECT sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'Causeway%'`)
    .pluck()
    .all()
  db.close()
  const original = readFileSync(join(fixtures, 'schema.sql'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('CREATE TABLE') && !/TABLE (MeshRecord|ObjectRecord) /.test(line))
    .map((line) => line.replace(/;$/, ''))
  t.same(made, original)
})

t.test('a run, its export and the imported export return the same answers', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  await library.recorder.write('run', streamLines([runLine, ...frameLines(1, 30)]))
  await exportTo(library, 'run', join(files, 'out.db'))
  await library.importRecording('back', 'out.db')
  const [run, out, back] = await Promise.all(['run', 'out.db', 'back'].map((name) => named(library, name)))
  if (!run || !out || !back) throw new Error('not opened')
  const frames = await readFrames(run)
  t.same(await readFrames(out), frames)
  t.same(await readFrames(back), frames)
  t.same(back.summary, run.summary, 'preserves the members of the run line')
  t.same(out.summary.geometry, run.summary.geometry)
  t.same((await out.bodyEnergy(1, whole)).data, (await run.bodyEnergy(1, whole)).data)
  t.same((await out.solver(whole)).data, (await run.solver(whole)).data)
})

t.test('external forces are preserved by export and import', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const pushed = (id: number, forces: readonly object[]): string =>
    frameLine(id, { bodies: [{ id: 1, forces }, { id: 2 }] })
  const push = { force: [50, 0, 1], torque: [0, 2, 0], at: [0, 0, 3] }
  const lines = [pushed(1, []), pushed(2, [push, { force: [-1, 0, 0] }]), pushed(3, []), pushed(4, [push])]
  await library.recorder.write('run', streamLines([runLine, ...lines]))
  await exportTo(library, 'run', join(files, 'out.db'))
  await library.importRecording('back', 'out.db')
  const sent = {
    body_id: 1,
    force: { x: 50, y: 0, z: 1 },
    torque: { x: 0, y: 2, z: 0 },
    at: { x: 0, y: 0, z: 3 },
  }
  for (const name of ['run', 'out.db', 'back']) {
    const frames = await readFrames(await named(library, name))
    const externals = frames.map(({ external_forces }) => external_forces)
    t.match(externals, [[], [sent, { body_id: 1, force: { x: -1 }, at: unknown }], [], [sent]], name)
    t.same(
      externals.map(({ length }) => length),
      [0, 2, 0, 1],
    )
  }
})

const contactParts = [
  ...(['collisions', 'contact_points', 'contact_constraints', 'friction', 'tangent_lambdas'] as const),
]

/** Returns a function that records a changed run, exports it, imports the export, and returns all three, opened. */
async function exchanger(t: Test, forget: (file: string) => void = () => {}) {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  return async (name: string, change: object) => {
    const file = join(files, `${name}.db`)
    await library.recorder.write(
      name,
      streamLines([runLine, ...[1, 2, 3].map((id) => frameLine(id, change))]),
    )
    await exportTo(library, name, file)
    forget(file)
    await library.importRecording(`${name}-back`, file)
    const [run, out, back] = await Promise.all([name, file, `${name}-back`].map((one) => named(library, one)))
    if (!run || !out || !back) throw new Error('not opened')
    return { run, out, back, lacking: [run, out, back].map(lacking) }
  }
}

const lacking = ({ summary }: Recording) => contactParts.filter((part) => summary.missing.includes(part))

verifies(
  'recording:recorder:exchange',
  'export and import distinguish missing contact data from frames without contacts',
  async (t) => {
    const exchange = await exchanger(t)
    const push = { id: 1, position: [0, 0, 1], velocity: [0, 0, 0], forces: [{ force: [1, 0, 0] }] }
    const { forces, ...coasting } = push
    for (const [name, body] of Object.entries({ coasting, push })) {
      const { run, out, back, lacking } = await exchange(name, { contacts: undefined, bodies: [body] })
      t.same(lacking, [contactParts, contactParts, contactParts])
      t.equal(out.summary.era, 'inertial')
      t.same(back.summary, run.summary)
      t.same(await readFrames(out), await readFrames(run))
      t.same(await readFrames(back), await readFrames(run))
    }
    const { run, out, back, lacking } = await exchange('free', { contacts: [] })
    t.same(lacking, [[], [], []])
    t.equal(out.summary.era, 'current')
    t.same(back.summary, run.summary)
  },
)

verifies(
  'recording:recorder:exchange',
  'importing an export without the contact data column infers contact data from contacts',
  async (t) => {
    const exchange = await exchanger(t, (file) => {
      const db = new Database(file)
      db.exec(`ALTER TABLE CausewayRunRecord DROP COLUMN ${contactDataColumn}`)
      db.close()
    })
    t.same((await exchange('free', { contacts: [] })).lacking, [[], [], contactParts])
    t.same((await exchange('touching', {})).lacking, [[], [], []])
  },
)

const recordings = [
  ...['era_states_only', 'era_flat_contacts', 'era_no_constraints', 'era_no_tangents', 'era_unified'],
  ...['spinning_collision', 'frictionless', 'killed_writer', 'late_spawn', 'nan'],
]

for (const name of sample(recordings, 10)) {
  verifies(
    'recording:recorder:exchange',
    `${name} has the same data as a run and as an export of that run`,
    async (t) => {
      await sameAgain(t, name)
    },
  )
}

async function sameAgain(t: Test, name: string): Promise<void> {
  const { files, data } = folders(t)
  const library = await libraryOver(t, fixtures, { dir: data })
  await library.importRecording('run', `${name}.db`)
  await exportTo(library, 'run', join(files, 'again.db'))
  const other = await libraryOver(t, files, { dir: join(data, 'other') })
  const [original, run] = await Promise.all([named(library, `${name}.db`), named(library, 'run')])
  const again = await named(other, 'again.db')
  const frames = (await readFrames(original)).map((frame) => ({
    ...frame,
    // Older files do not contain accelerations.
    states: frame.states.map((state) => ({ ...state, acceleration: state.acceleration ?? unknown })),
  }))
  t.same(await readFrames(run), frames)
  t.same(await readFrames(again), frames)
  t.match(run.summary, {
    frames: original.summary.frames,
    dt_s: original.summary.dt_s,
    bodies: original.summary.bodies,
    environment_bodies: original.summary.environment_bodies,
    appearances: original.summary.appearances,
  })
}

const unknown = { x: null, y: null, z: null }

interface Opened {
  readonly library: RecordingLibrary
  readonly file: string
  readonly data: string
}

/** Opens a library over a folder with a file of lines. `found` receives each path that the roots resolve. */
async function overLines(
  t: Test,
  lines: readonly string[],
  found: (path: string) => void = () => {},
): Promise<Opened> {
  const { files, data } = folders(t)
  const file = join(files, 'lines.jsonl')
  writeFileSync(file, lines.join('\n'))
  const { folders: all, resolve } = createRoots(files, data)
  const library = await openLibrary({
    dir: data,
    now: () => 1_700_000_000_000,
    roots: {
      folders: all,
      async resolve(path) {
        const real = await resolve(path)
        found(real)
        return real
      },
    },
  })
  t.teardown(() => library.close())
  return { library, file, data }
}

/** Folder in which Linux lists the open files of this process. */
const openFiles = '/proc/self/fd'
const unlisted = existsSync(openFiles) ? {} : { skip: 'the system does not list the open files of a process' }

const notHeld = (t: Test, file: string): boolean => t.notOk(isHeld(file), 'the file is closed', unlisted)

const isHeld = (file: string): boolean =>
  existsSync(openFiles) &&
  readdirSync(openFiles).some((fd) => {
    try {
      return readlinkSync(`${openFiles}/${fd}`) === file
    } catch {
      return false
    }
  })

const gone = (t: Test, { recorder }: RecordingLibrary): Promise<unknown> =>
  t.rejects(recorder.state('run'), { code: 'RECORDING_NOT_FOUND' }, 'creates no run')

verifies(
  'recording:recorder:import',
  'importing a removed file fails and does not leave a run',
  async (t) => {
    const { library } = await overLines(t, [runLine, ...frameLines(1, 3)], (path) => rmSync(path))
    await t.rejects(library.importRecording('run', 'lines.jsonl'), { code: 'RECORDING_NOT_FOUND' })
    await gone(t, library)
  },
)

verifies('recording:recorder:import', 'an import of a pipe without a writer fails immediately', async (t) => {
  const { library, file } = await overLines(t, [])
  rmSync(file)
  execFileSync('mkfifo', [file])
  await t.rejects(library.importRecording('run', 'lines.jsonl'), { code: 'NOT_A_RECORDING' })
  await gone(t, library)
})

verifies(
  'recording:recorder:import',
  'an import with an invalid line leaves neither a run nor an open file',
  async (t) => {
    const { library, file } = await overLines(t, [runLine, ...frameLines(1, 3), '{"frame_id": 0}'])
    const data = { line: 5, path: 'frame_id', accepted: 0, last_frame_id: null }
    await t.rejects(library.importRecording('run', 'lines.jsonl'), { code: 'INVALID_FRAME', data })
    await gone(t, library)
    notHeld(t, file)
    writeFileSync(file, [runLine, ...frameLines(1, 4)].join('\n'))
    t.match(await library.importRecording('run', 'lines.jsonl'), { status: 'finished', total_frames: 4 })
  },
)

verifies('recording:recorder:import', 'an import does not add frames to an existing run', async (t) => {
  const { library, file } = await overLines(t, frameLines(2, 5))
  await library.recorder.write('run', streamLines([runLine, frameLine(1)]))
  await t.rejects(library.importRecording('run', 'lines.jsonl'), { code: 'RECORDING_EXISTS' })
  t.match(await library.recorder.state('run'), { total_frames: 1 })
  notHeld(t, file)
})

verifies('recording:recorder:new', async (t) => {
  const { library } = await overLines(t, [])
  const { recorder } = library
  const lines = () => streamLines([runLine, ...frameLines(1, 3)])
  t.match(await recorder.write('run', lines(), { isNew: true }), { accepted: 3 })
  const twice = recorder.write('run', lines(), { isNew: true })
  await t.rejects(twice, { code: 'RECORDING_EXISTS', data: { recording: 'run' } })
  t.match(await recorder.write('run', lines()), { accepted: 0, ignored: 3 })
})

verifies('recording:recorder:import', 'a cancelled import does not leave a run', async (t) => {
  const { library, file } = await overLines(t, [runLine, ...frameLines(1, 500)])
  const given = new AbortController()
  const progress = (): void => given.abort()
  const call = library.importRecording('run', 'lines.jsonl', { signal: given.signal, progress })
  await t.rejects(call, { code: 'CANCELLED' })
  await gone(t, library)
  notHeld(t, file)
})

verifies('recording:recorder:import', "a file in the server's data folder is rejected", async (t) => {
  const { library, data } = await overLines(t, [])
  const own = join(data, 'own.jsonl')
  writeFileSync(own, runLine)
  await t.rejects(library.importRecording('run', own), { code: 'OUTSIDE_ROOTS' })
})

/** Yields the bytes of a file in parts. Throws after `cutAt` bytes. */
async function* readBytes(bytes: Uint8Array, cutAt = Number.POSITIVE_INFINITY): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 5000) {
    if (at >= cutAt) throw new Error('the connection was lost')
    yield bytes.subarray(at, at + 5000)
  }
}

verifies('recording:recorder:upload', async (t) => {
  const { files, data } = folders(t)
  const limits = { recorder: { ...libraryDefaults.recorder, maxBytes: 8 * 1024 ** 2 } }
  const library = await libraryOver(t, files, { dir: data, limits })
  const { recorder } = library
  const bytes = readFileSync(join(fixtures, 'drop.db'))
  const isEmpty = async (): Promise<void> => {
    await gone(t, library)
    t.same([readdirSync(join(data, 'exports')), readdirSync(join(data, 'recordings'))], [[], []])
  }
  const damaged = Buffer.from(bytes)
  damaged.fill(0xff, 5000, 30_000)
  for (const [upload, code] of [
    [readBytes(Buffer.from('no database')), 'NOT_A_DATABASE'],
    [readBytes(Buffer.alloc(100_000)), 'NOT_A_DATABASE'],
    [readBytes(bytes.subarray(0, 40_000)), 'RECORDING_DAMAGED'],
    [readBytes(damaged), 'RECORDING_DAMAGED'],
    [readBytes(bytes, 20_000), 'CANCELLED'],
    [readBytes(Buffer.concat([bytes, Buffer.alloc(limits.recorder.maxBytes)])), 'DATA_UNWRITABLE'],
  ] as const) {
    await t.rejects(recorder.importUpload('run', upload), { code })
    await isEmpty()
  }
  t.match(await recorder.importUpload('run', readBytes(bytes)), { status: 'finished', total_frames: 150 })
  t.same(readdirSync(join(data, 'exports')), [])
  await t.rejects(recorder.importUpload('run', readBytes(bytes)), { code: 'RECORDING_EXISTS' })
  t.match(await recorder.state('run'), { total_frames: 150 })
})
