import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { RecordingError } from '../src/errors.ts'
import { copyDatabase } from '../src/library/copy.ts'
import { createStateKey, readFileState } from '../src/library/file-state.ts'
import { change, folders, libraryOver, until, whole } from './library-kit.ts'
import { writeRecording } from './write-recording.ts'

const idle = { signal: new AbortController().signal, progress: () => {} }

t.test('copyDatabase writes a private copy, reports progress and returns the copied state', async (t) => {
  const { files, data } = folders(t)
  const [source, target] = [join(files, 'run.db'), join(data, 'copy')]
  writeRecording(source, { frames: 10 })
  const done: number[] = []
  const state = await copyDatabase(source, target, { ...idle, progress: (bytes) => done.push(bytes) })
  t.ok(readFileSync(target).equals(readFileSync(source)))
  t.equal(statSync(target).mode & 0o777, 0o600)
  t.equal(state.size, statSync(source).size)
  t.ok(
    done.length === 0 || done.at(-1) === state.size,
    'reports no progress for a clone, and all bytes for a copy',
  )
  t.equal(createStateKey(source, state), createStateKey(source, await readFileState(source)))
})

t.test('copyDatabase reports a file that keeps changing as busy and does not leave files', async (t) => {
  const { files, data } = folders(t)
  const source = join(files, 'run.db')
  writeRecording(source, { frames: 10 })
  const file = await open(source, 'r+')
  t.teardown(() => file.close())
  // Change counter of a recorder that commits during every copy.
  let counter = 0
  const commit = () => writeSync(file.fd, Buffer.from([0, 1, counter >> 8, counter++ & 255]), 0, 4, 24)
  const timer = setInterval(commit, 1)
  t.teardown(() => clearInterval(timer))
  const busy = copyDatabase(source, join(data, 'copy'), { ...idle, progress: commit })
  await t.rejects(busy, { code: 'RECORDING_BUSY', data: { path: source } })
  t.same(readdirSync(data), [])
})

t.test('copyDatabase ignores a journal whose header is zeroed', async (t) => {
  const { files, data } = folders(t)
  const source = join(files, 'run.db')
  writeRecording(source, { frames: 2 })
  const db = new Database(source)
  db.pragma('journal_mode = PERSIST')
  db.exec('UPDATE CoordinateRecord SET z = 3')
  db.close()
  t.ok(statSync(`${source}-journal`).size > 0)
  t.equal((await copyDatabase(source, join(data, 'copy'), idle)).journal, null)
  t.notOk(existsSync(join(data, 'copy-journal')))
})

t.test('copyDatabase stops on abort and does not leave files', async (t) => {
  const { files, data } = folders(t)
  const source = join(files, 'run.db')
  writeRecording(source, { frames: 2 })
  const reason = new Error('enough')
  await t.rejects(
    copyDatabase(source, join(data, 'copy'), { ...idle, signal: AbortSignal.abort(reason) }),
    reason,
  )
  writeFileSync(`${source}-journal`, 'a transaction is open')
  const controller = new AbortController()
  const waiting = copyDatabase(source, join(data, 'copy'), { ...idle, signal: controller.signal })
  controller.abort()
  await t.rejects(waiting)
  t.same(readdirSync(data), [])
})

const script = new URL('./writer-process.ts', import.meta.url)

/** Starts a recorder process and waits until it has written. */
async function writer(t: Test, mode: 'live' | 'hot' | 'wal', file: string): Promise<ChildProcess> {
  const child = fork(script, [mode, file], {
    execArgv: process.execArgv.filter((arg) => arg.startsWith('--conditions')),
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Returns the name, size, times and bytes of every file in a folder. */
const contents = (folder: string) =>
  readdirSync(folder).map((name) => {
    const { size, mtimeNs } = statSync(join(folder, name), { bigint: true })
    return { name, size, mtimeNs, bytes: readFileSync(join(folder, name)).toString('base64') }
  })

verifies(
  'recording:file:live-writer',
  inCI(async (t) => {
    const { files: root, data } = folders(t)
    const file = join(root, 'live.db')
    const child = await writer(t, 'live', file)
    const exited = once(child, 'exit')
    const library = await libraryOver(t, root, { dir: data })
    const outcomes = { opened: 0, busy: 0 }
    for (let round = 0; round < 10 && child.exitCode === null; round++) {
      await library.list()
      try {
        const { recording } = await library.open(file)
        const last = recording.summary.frames?.last_frame ?? 0
        t.equal((await recording.frame(last)).states.length, 1)
        outcomes.opened++
      } catch (error) {
        if (!RecordingError.is(error, 'RECORDING_BUSY')) throw error
        outcomes.busy++
      }
    }
    const reported = once(child, 'message')
    child.send('stop')
    const [{ commits, frames }] = await reported
    t.same(await exited, [0, null], 'never locks the database of the recorder')
    t.ok(outcomes.opened > 1, `opened ${outcomes.opened} times, busy ${outcomes.busy} times`)
    t.ok(commits > 10, `${commits} commits`)
    const { recording } = await library.open(file)
    t.equal(recording.summary.frames?.total_frames, frames)
  }),
)

verifies('recording:file:hot-journal', async (t) => {
  const { files: root, data } = folders(t)
  const file = join(root, 'hot.db')
  await kill(await writer(t, 'hot', file))
  t.ok(statSync(`${file}-journal`).size > 0, 'the writer left a journal')
  const before = contents(root)
  const library = await libraryOver(t, root, { dir: data })
  t.match((await library.list()).listings, [{ id: 'hot', is_recording: true }])
  const { recording } = await library.open('hot')
  t.equal(recording.summary.frames?.total_frames, 20, 'omits uncommitted frames')
  t.equal((await recording.frame(7)).states[0]?.position.z, 0.5)
  t.same(contents(root), before, 'does not modify the original files')
})

t.test('list reports a file with a journal as busy until the journal is removed', async (t) => {
  const { files: root, data } = folders(t)
  const file = join(root, 'assets.db')
  new Database(file).exec('CREATE TABLE asset (id INTEGER)').close()
  writeFileSync(`${file}-journal`, Buffer.from('d9d505f920a163d7', 'hex'))
  const library = await libraryOver(t, root, { dir: data })
  t.match((await library.list()).listings, [{ name: 'assets.db', reason: 'RECORDING_BUSY' }])
  rmSync(`${file}-journal`)
  t.match((await library.list()).listings, [{ name: 'assets.db', reason: 'NOT_A_RECORDING' }])
})

verifies('recording:file:wal', async (t) => {
  const { files: root, data } = folders(t)
  const file = join(root, 'log.db')
  const child = await writer(t, 'wal', file)
  const library = await libraryOver(t, root, { dir: data })
  t.match((await library.list()).listings, [{ id: 'log', is_recording: false, reason: 'RECORDING_BUSY' }])
  const { recording } = await library.open('log')
  t.equal(recording.summary.frames?.total_frames, 30)
  t.equal((await recording.frame(30)).states.length, 1)
  await kill(child)
  const before = contents(root)
  t.equal((await library.open('log')).recording, recording, 'does not copy an unchanged file')
  t.same(contents(root), before)
})

verifies(
  'recording:file:live-writer',
  'a file with an open transaction is read in the state before the transaction',
  async (t) => {
    const { files: root, data } = folders(t)
    const file = join(root, 'open.db')
    const child = await writer(t, 'hot', file)
    const library = await libraryOver(t, root, { dir: data })
    // The journal does not change while its writer sleeps, so the state before its transaction is copied.
    const { recording } = await library.open(file)
    t.equal(recording.summary.frames?.total_frames, 20)
    t.equal(child.exitCode, null)
  },
)

verifies('recording:file:missing', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  await t.rejects(library.open('nothing'), { code: 'RECORDING_NOT_FOUND', data: { searched: [files] } })
  writeRecording(join(files, 'gone.db'), { frames: 2 })
  await library.open('gone')
  rmSync(join(files, 'gone.db'))
  await t.rejects(library.open('gone'), { code: 'RECORDING_NOT_FOUND' })
  await library.list()
  t.match(
    library.health(),
    { snapshots: 0, snapshot_bytes: 0, loaded: 0 },
    'removes the copy of a removed file',
  )
})

verifies('recording:file:not-a-database', async (t) => {
  const { files, data } = folders(t)
  writeFileSync(
    join(files, 'text.db'),
    'SQLite format 3, says this text, but the zero byte is absent. '.repeat(4),
  )
  const library = await libraryOver(t, files, { dir: data })
  await t.rejects(library.open('text'), { code: 'NOT_A_DATABASE' })
})

verifies('recording:file:not-a-recording', async (t) => {
  const { files, data } = folders(t)
  writeFileSync(join(files, 'empty.db'), '')
  change(join(files, 'assets.db'), 'CREATE TABLE ObjectRecord (id INTEGER PRIMARY KEY, name TEXT)')
  const library = await libraryOver(t, files, { dir: data })
  await t.rejects(library.open('empty'), { code: 'NOT_A_RECORDING' })
  await t.rejects(library.open('assets'), {
    code: 'NOT_A_RECORDING',
    data: { absent: /SimulationFrameRecord/ },
  })
  t.same(readdirSync(join(data, 'snapshots')), [])
})

verifies('recording:file:damaged', async (t) => {
  const { files, data } = folders(t)
  const file = join(files, 'torn.db')
  writeRecording(file, { frames: 200 })
  truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096)
  const library = await libraryOver(t, files, { dir: data })
  await t.rejects(library.open('torn'), { code: 'RECORDING_DAMAGED' })
  t.match((await library.list()).listings, [{ is_recording: false, reason: 'RECORDING_DAMAGED' }])
  t.same(readdirSync(join(data, 'snapshots')), [])
})

t.test('open accepts a recording of 0 frames', async (t) => {
  const { files, data } = folders(t)
  writeRecording(join(files, 'none.db'), { frames: 0 })
  const { recording } = await (await libraryOver(t, files, { dir: data })).open('none')
  t.match(recording.summary, {
    frames: null,
    first_time_s: null,
    dt_s: null,
    gravity_m_s2: null,
    ignored_rows: 0,
  })
  t.equal((await recording.systemEnergy(whole)).length, 0)
  await t.rejects(recording.frame(1), { code: 'FRAME_NOT_FOUND' })
})

t.test('open replaces a damaged private copy', async (t) => {
  const { files, data } = folders(t)
  writeRecording(join(files, 'run.db'), { frames: 5 })
  const first = await libraryOver(t, files, { dir: data })
  await first.open('run')
  await first.close()
  const [copy] = readdirSync(join(data, 'snapshots'))
  writeFileSync(join(data, 'snapshots', copy ?? ''), 'no database')
  const second = await libraryOver(t, files, { dir: data })
  t.equal((await second.open('run')).recording.summary.frames?.total_frames, 5)
})

t.test('open reports damage that the background check has found', async (t) => {
  const { files, data } = folders(t)
  const file = join(files, 'run.db')
  writeRecording(file, { frames: 200 })
  truncateSync(file, Math.floor((statSync(file).size * 0.9) / 4096) * 4096)
  const library = await libraryOver(t, files, { dir: data, limits: { maxForegroundIndexBytes: 0 } })
  await t.rejects(
    async () => {
      const { recording } = await library.open('run')
      await until(() => library.health().snapshots === 0)
      await recording.frame(1)
    },
    { code: 'RECORDING_DAMAGED' },
  )
})

t.test('a file whose name is the id of a deleted recording can be opened', async (t) => {
  const { files, data } = folders(t)
  const library = await libraryOver(t, files, { dir: data })
  const deleted = join(files, 'run.db')
  writeRecording(deleted, { frames: 3 })
  t.equal((await library.open('run.db')).recording.identity.id, 'run')
  rmSync(deleted)
  // Lists omit files without an extension.
  writeRecording(join(files, 'run'), { frames: 7 })
  t.equal((await library.open('run')).recording.summary.frames?.total_frames, 7)
})
