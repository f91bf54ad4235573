import {
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { openLibrary } from '../src/index.ts'
import { LogCheckpoints, pauseBytes } from '../src/recorder/log-checkpoints.ts'
import { SpareWorker } from '../src/recorder/spare-worker.ts'
import { type RecorderWorker, startRecorderWorker } from '../src/recorder/start-recorder-worker.ts'
import { change, createRoots, folders, libraryOver, until, whole } from './library-kit.ts'
import { bodyId, floorId, writeRecording } from './write-recording.ts'

verifies('recording:file:rewritten', async (t) => {
  const { files, data } = folders(t)
  const file = join(files, 'run.db')
  writeRecording(file, { frames: 3 })
  let clock = 1_000_000
  const library = await libraryOver(t, files, { dir: data, now: () => clock })
  const first = await library.open('run')
  t.equal(first.reloaded, false)
  t.equal((await library.open('run')).recording, first.recording)
  const { atime, mtime } = statSync(file)
  change(file, 'UPDATE CoordinateRecord SET z = 9')
  utimesSync(file, atime, mtime)
  const second = await library.open('run')
  t.equal(second.reloaded, true, 'detects a change by the change counter')
  t.equal((await second.recording.frame(2)).states[0]?.position.z, 9)
  rmSync(file)
  writeRecording(file, { frames: 7, height: 2 })
  const third = await library.open('run')
  t.equal(third.reloaded, true)
  t.equal(third.recording.identity.id, 'run')
  t.equal(third.recording.summary.frames?.total_frames, 7)
  t.equal(
    (await first.recording.frame(2)).states[0]?.position.z,
    0.5,
    'the first recording still returns its state',
  )
  clock += 60_000
  await library.list()
  t.equal(library.health().snapshots, 1, 'removes copies of earlier states')
})

verifies('recording:file:untouched', async (t) => {
  const { files, data } = folders(t)
  writeRecording(join(files, 'run.db'), { frames: 30 })
  const before = statSync(join(files, 'run.db'), { bigint: true })
  const library = await libraryOver(t, files, { dir: data })
  await library.list()
  const { recording } = await library.open('run')
  await recording.frame(3)
  const after = statSync(join(files, 'run.db'), { bigint: true })
  t.same([after.mtimeNs, after.ctimeNs, after.ino], [before.mtimeNs, before.ctimeNs, before.ino])
  t.same(readdirSync(files), ['run.db'])
  t.equal(statSync(join(data, 'snapshots')).mode & 0o777, 0o700)
  for (const name of readdirSync(join(data, 'snapshots'))) {
    t.equal(statSync(join(data, 'snapshots', name)).mode & 0o777, 0o600)
  }
})

verifies('recording:copy:cache', async (t) => {
  const { files, data } = folders(t)
  for (const name of ['a', 'b', 'c']) writeRecording(join(files, `${name}.db`), { frames: 20 })
  let clock = 1_000_000
  const now = () => (clock += 120_000)
  const first = await libraryOver(t, files, { dir: data, now })
  await first.open('a')
  const bytes = first.health().snapshot_bytes
  await first.close()

  const limits = { snapshotBytes: Math.floor(2.5 * bytes) }
  const second = await libraryOver(t, files, { dir: data, now, limits })
  const copied: string[] = []
  const open = (name: string) => second.open(name, { progress: () => copied.push(name) })
  await open('a')
  t.same(copied, [], 'reuses a copy after a restart')
  await open('b')
  await open('a')
  await open('c')
  t.ok(second.health().snapshot_bytes <= limits.snapshotBytes)
  t.equal(second.health().snapshots, 2)
  copied.length = 0
  await open('a')
  t.same(copied, [], 'retains the copy that was used before the last')
  await open('b')
  t.ok(copied.includes('b'), 'evicts the least recently used copy')
})

verifies('recording:copy:interrupted', async (t) => {
  const { files, data } = folders(t)
  writeRecording(join(files, 'run.db'), { frames: 400 })
  const library = await libraryOver(t, files, { dir: data })
  const controller = new AbortController()
  const opening = library.open('run', { signal: controller.signal, progress: () => controller.abort() })
  await t.rejects(opening, { code: 'CANCELLED' })
  await t.rejects(library.open('run', { signal: AbortSignal.abort() }), { code: 'CANCELLED' })
  t.equal((await library.open('run')).recording.summary.frames?.total_frames, 400)
  await library.close()
  // Files that remain if a process is killed during a copy.
  writeFileSync(join(data, 'snapshots', 'half.part'), 'SQLite format 3')
  writeFileSync(join(data, 'snapshots', 'unknown.db'), 'SQLite format 3')
  const next = await libraryOver(t, files, { dir: data })
  t.match(readdirSync(join(data, 'snapshots')), [/^[0-9a-f]{32}\.db$/])
  t.equal(next.health().snapshots, 1)
})

t.test(
  'concurrent callers of open share one copy, and a cancelled caller does not affect the others',
  async (t) => {
    const { files, data } = folders(t)
    writeRecording(join(files, 'run.db'), { frames: 100 })
    const library = await libraryOver(t, files, { dir: data })
    const controller = new AbortController()
    const impatient = library.open('run', { signal: controller.signal, progress: () => controller.abort() })
    const [gone, stayed] = await Promise.allSettled([impatient, library.open('run')])
    t.match(gone, { status: 'rejected', reason: { code: 'CANCELLED' } })
    t.match(stayed, { status: 'fulfilled' })
    t.equal(library.health().snapshots, 1)
  },
)

verifies(
  'recording:read:index-equals-scan',
  'a large recording is opened immediately and indexed in the background',
  async (t) => {
    const { files, data, more } = folders(t)
    writeRecording(join(files, 'run.db'), { frames: 60 })
    const small = await libraryOver(t, files, { dir: more })
    const large = await libraryOver(t, files, { dir: data, limits: { maxForegroundIndexBytes: 0 } })
    const { recording: indexed } = await small.open('run')
    const { recording: searched } = await large.open('run')
    const before = large.health().snapshot_bytes
    const same = async () => {
      t.same(await searched.frame(40), await indexed.frame(40))
      t.same(await searched.systemEnergy(whole), await indexed.systemEnergy(whole))
      t.same(await searched.bodyEnergy(bodyId, whole), await indexed.bodyEnergy(bodyId, whole))
      const pair = [bodyId, floorId] as const
      t.same(await searched.pairHistory(pair, whole, 9), await indexed.pairHistory(pair, whole, 9))
      t.same(searched.summary, indexed.summary)
    }
    await same()
    await until(() => large.health().snapshot_bytes > before)
    await same()
    await large.close()
    const again = await libraryOver(t, files, { dir: data, limits: { maxForegroundIndexBytes: 0 } })
    t.same(await (await again.open('run')).recording.frame(7), await indexed.frame(7))
  },
)

t.test('open limits the number of workers, and earlier recordings remain usable', async (t) => {
  const { files, data } = folders(t)
  for (const name of ['a', 'b', 'c']) writeRecording(join(files, `${name}.db`), { frames: 3 })
  const library = await libraryOver(t, files, { dir: data, limits: { maxLoaded: 2 } })
  const { recording } = await library.open('a')
  await library.open('b')
  await library.open('c')
  t.equal(library.health().loaded, 2)
  t.equal((await recording.frame(2)).frame_id, 2)
})

t.test('concurrent calls read more recordings than may have workers', async (t) => {
  const { files, data } = folders(t)
  const names = ['a', 'b', 'c']
  for (const name of names) writeRecording(join(files, `${name}.db`), { frames: 3 })
  const library = await libraryOver(t, files, { dir: data, limits: { maxLoaded: 1 } })
  const ask = async (name: string): Promise<void> => {
    const { recording } = await library.open(name)
    t.equal((await recording.frame(2)).frame_id, 2)
  }
  for (let round = 0; round < 6; round += 1) await Promise.all([...names, ...names].map(ask))
})

verifies('recording:worker:event-loop', async (t) => {
  const { files, data } = folders(t)
  const file = join(files, 'run.db')
  writeRecording(file, { frames: 2000 })
  const library = await libraryOver(t, files, { dir: data })
  const before = performance.eventLoopUtilization()
  const { recording } = await library.open('run')
  const { utilization } = performance.eventLoopUtilization(before)
  t.ok(utilization < 0.5, `the event loop was busy for ${Math.round(utilization * 100)} % of the time`)
  // Concurrent calls are answered while timers continue to run.
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  await Promise.all(Array.from({ length: 300 }, (_, i) => recording.frame(i + 1)))
  clearInterval(timer)
  t.ok(ticks > 0)
})

verifies('recording:catalogue:id', async (t) => {
  const { files, data } = folders(t)
  mkdirSync(join(files, 'other'))
  writeRecording(join(files, 'my run, 2.db'), { frames: 2 })
  writeRecording(join(files, 'twin.db'), { frames: 3 })
  writeRecording(join(files, 'other', 'twin.db'), { frames: 4 })
  const first = await libraryOver(t, files, { dir: data })
  const ids = (await first.list()).listings.map(({ id }) => id)
  t.equal(new Set(ids).size, 3)
  for (const id of ids) t.match(id, /^[A-Za-z0-9._~-]+$/)
  t.ok(ids.includes('my-run-2') && ids.includes('twin'))
  for (const { id, path } of (await first.list()).listings) {
    const { recording } = await first.open(id)
    t.match(recording.identity, { id, path })
    t.equal((await first.open(path)).recording, recording)
  }
  await first.close()
  const second = await libraryOver(t, files, { dir: data })
  t.same(
    (await second.list()).listings.map(({ id }) => id),
    ids,
  )
})

t.test('open finds a recording by id, name or relative path without a previous list', async (t) => {
  const { files, data } = folders(t)
  mkdirSync(join(files, 'deep'))
  writeRecording(join(files, 'deep', 'run.db'), { frames: 2 })
  const library = await libraryOver(t, files, { dir: data })
  const { recording } = await library.open('run')
  t.equal((await library.open('run.db')).recording, recording)
  t.equal((await library.open('deep/run.db')).recording, recording)
})

verifies('recording:catalogue:reasons', async (t) => {
  const { files, data } = folders(t)
  const usual = join(files, 'build', 'Debug', 'debug', 'recordings')
  mkdirSync(usual, { recursive: true })
  mkdirSync(join(files, '.hidden'))
  writeRecording(join(usual, 'suite.db'), { frames: 5 })
  writeRecording(join(files, '.hidden', 'hidden.db'), { frames: 5 })
  writeRecording(join(files, 'none.db'), { frames: 0 })
  writeRecording(join(files, 'torn.db'), { frames: 50 })
  truncateSync(join(files, 'torn.db'), 8192)
  writeFileSync(join(files, 'text.db'), 'this is not a database, and it is longer than a header: '.repeat(4))
  writeFileSync(join(files, 'empty.sqlite'), '')
  writeFileSync(join(files, 'notes.txt'), '')
  change(join(files, 'assets.db'), 'CREATE TABLE MeshRecord (id INTEGER PRIMARY KEY, vertex_data BLOB)')
  const library = await libraryOver(t, files, { dir: data })
  const expected = [
    { name: 'assets.db', is_recording: false, reason: 'NOT_A_RECORDING' },
    { name: 'suite.db', is_recording: true, total_frames: 5 },
    { name: 'empty.sqlite', is_recording: false, reason: 'NOT_A_RECORDING' },
    { name: 'none.db', is_recording: true, total_frames: 0 },
    { name: 'text.db', is_recording: false, reason: 'NOT_A_DATABASE' },
    { name: 'torn.db', is_recording: false, reason: 'RECORDING_DAMAGED' },
  ]
  const found = await library.list()
  t.match(found.listings, expected)
  t.equal(found.listings.length, expected.length)
  t.same((await library.list()).listings, found.listings, 'caches the results of checks')
  t.match(await library.list(usual), { searched: [usual], listings: [{ name: 'suite.db' }] })
  t.same(await library.list(join(files, 'nowhere')), { searched: [join(files, 'nowhere')], listings: [] })
})

t.test('open rejects and list omits files in the data folder of the library', async (t) => {
  const { files } = folders(t)
  const dir = join(files, 'data')
  const library = await libraryOver(t, files, { dir })
  t.same((await library.list()).listings, [])
  await t.rejects(library.open('data/recordings.db'), { code: 'OUTSIDE_ROOTS' })
})

verifies('recording:roots:symlink', async (t) => {
  const { files, data, elsewhere } = folders(t)
  writeRecording(join(elsewhere, 'secret.db'), { frames: 2 })
  writeRecording(join(files, 'run.db'), { frames: 2 })
  symlinkSync(join(elsewhere, 'secret.db'), join(files, 'out.db'))
  symlinkSync(elsewhere, join(files, 'folder'))
  symlinkSync(join(files, 'run.db'), join(files, 'alias.db'))
  const library = await libraryOver(t, files, { dir: data })
  t.match((await library.list()).listings, [{ name: 'run.db' }])
  t.equal((await library.list()).listings.length, 1, 'resolves a link within the roots to its file')
  await t.rejects(library.open('out.db'), { code: 'OUTSIDE_ROOTS' })
  await t.rejects(library.open('folder/secret.db'), { code: 'OUTSIDE_ROOTS' })
  await t.rejects(library.list(join(files, 'folder')), { code: 'OUTSIDE_ROOTS' })
})

t.test('openLibrary rejects a catalogue of a newer version', async (t) => {
  const { files, data } = folders(t)
  await (await libraryOver(t, files, { dir: data })).close()
  change(
    join(data, 'recordings.db'),
    `INSERT INTO causeway_migration VALUES (1000, 'from the future', '', 0)`,
  )
  await t.rejects(openLibrary({ dir: data, roots: createRoots(files), now: Date.now }), {
    code: 'NEWER_DATA',
  })
})

t.test('SpareWorker retains one worker for the next run and stops the others', async (t) => {
  const workers = new SpareWorker(startRecorderWorker)
  t.teardown(() => workers.close())
  const [first, second] = [workers.acquire(), workers.acquire()]
  t.not(first, second, 'concurrent runs have different workers')
  await workers.release(first)
  await workers.release(second)
  t.equal(second.isAlive, false)
  t.equal(workers.acquire(), first)
  await first.stop()
})

t.test('SpareWorker does not retain a dead worker, or any worker after close', async (t) => {
  const workers = new SpareWorker(startRecorderWorker)
  const [first, second] = [workers.acquire(), workers.acquire()]
  await workers.release(first)
  await first.kill()
  const next = workers.acquire()
  t.not(next, first)
  await workers.release(next)
  await workers.close()
  await workers.release(second)
  t.same([next.isAlive, second.isAlive], [false, false])
})

t.test('LogCheckpoints pauses the writer only while a long log is checkpointed', async (t) => {
  const started: ((logBytes: number) => void)[] = []
  const call = () => new Promise<number>((resolve) => started.push(resolve))
  const link = { call, stop: async () => {} } as unknown as RecorderWorker
  const checkpoints = new LogCheckpoints('run.db', { acquire: () => link, release: async () => {} })
  const mebibyte = 2 ** 20
  await checkpoints.advance(7 * mebibyte)
  t.equal(started.length, 0)
  await checkpoints.advance(8 * mebibyte)
  await checkpoints.advance(30 * mebibyte)
  t.equal(started.length, 1, 'starts one checkpoint at a time')
  started[0]?.(pauseBytes)
  await checkpoints.end()
  const resume = async (storedBytes: number, ends: readonly number[]) => {
    let hasResumed = false
    const paused = checkpoints.advance(storedBytes).then(() => {
      hasResumed = true
    })
    for (const end of ends) {
      await until(() => started.length > end)
      t.notOk(hasResumed)
      started[end]?.(mebibyte)
    }
    await paused
  }
  await resume(31 * mebibyte, [1])
  await checkpoints.advance(38 * mebibyte)
  t.equal(started.length, 2)
  await checkpoints.advance(39 * mebibyte)
  // The disk is slower than the stream.
  await resume(39 * mebibyte + pauseBytes, [2, 3])
})

t.test('a failed flush at the end of a request does not affect the next request', async (t) => {
  const link = startRecorderWorker()
  t.teardown(() => link.stop())
  await link.call('runOpen', {
    file: join(t.testdir(), 'run.db'),
    nowMs: 1,
    bytes: 300_000,
    expectedBytes: 0,
  })
  const write = (text: string) => link.call('runWrite', { parts: [Buffer.from(text)], nowMs: 1 })
  const bodies = Array.from({ length: 2000 }, (_, i) => ({ id: i + 1, position: [0, 0, 0] }))
  await write(`${JSON.stringify({ frame_id: 1, bodies })}\n{"frame_id": 2, "bod`)
  await t.rejects(link.call('runEnd', { isWhole: false, nowMs: 1 }), { code: 'DATA_UNWRITABLE' })
  await write('{"frame_id": 3}\n')
  t.match(await link.call('runEnd', { isWhole: true, nowMs: 1 }), { accepted: 1, last_frame_id: 3 })
})

t.test('a reused worker records the next run without any state of the previous run', async (t) => {
  const dir = t.testdir()
  const link = startRecorderWorker()
  t.teardown(() => link.stop())
  const record = async (name: string, text: string) => {
    await link.call('runOpen', { file: join(dir, `${name}.db`), nowMs: 1, bytes: 2 ** 30, expectedBytes: 0 })
    await link.call('runWrite', { parts: [Buffer.from(text)], nowMs: 1 })
    return link.call('runEnd', { isWhole: true, nowMs: 1 })
  }
  const [body, line] = ['{"id": 1, "position": [0, 0, 1]}', '{"run": {"bodies": [{"id": 1, "mass": 2}]}}']
  t.match(await record('one', `${line}\n{"frame_id": 7, "bodies": [${body}]}\n`), { accepted: 1 })
  // An incomplete line of a closed run must not affect the next run.
  await link.call('runWrite', { parts: [Buffer.from('{"frame_id": 8, "bod')], nowMs: 1 })
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
