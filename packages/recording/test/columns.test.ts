import { copyFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { AnswersFile, hashSources } from '../src/formats/answers-file.ts'
import { getColumnsFilePath, openColumns } from '../src/formats/columns-file.ts'
import { MalformedFile, SqlitePages } from '../src/formats/sqlite-pages.ts'
import { type FrameWindow, openLibrary, type RecordingLibrary, stateAt } from '../src/index.ts'
import { readFileState } from '../src/library/file-state.ts'
import { prepareCopy } from '../src/library/prepare.ts'
import { estimateBytes, ResultCache } from '../src/library/result-cache.ts'
import { openReader } from '../src/reader/open-reader.ts'
import { NumberRows, SlabAllocator } from '../src/recorder/number-buffers.ts'
import type { Counted } from './counting-worker.ts'
import { createRoots, folders, until } from './library-kit.ts'
import { writeRecording } from './write-recording.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/recordings')
const call = { signal: new AbortController().signal, progress() {} }
const whole = { start: null, end: null }

async function all(windows: AsyncGenerator<FrameWindow>): Promise<FrameWindow[]> {
  const found: FrameWindow[] = []
  for await (const window of windows) found.push(window)
  return found
}

/** Returns a prepared copy of a fixture. */
function createCopy(t: Test, name: string): string {
  const file = join(t.testdir(), `${name}.db`)
  copyFileSync(join(fixtures, `${name}.db`), file)
  prepareCopy(file, false)
  return file
}

for (const name of ['drop', 'late_spawn', 'era_flat_contacts', 'era_states_only', 'stack'])
  verifies('recording:columns:file', `${name}: the columns file has the windows of the tables`, async (t) => {
    const file = createCopy(t, name)
    const reader = openReader(file)
    t.teardown(() => reader.close())
    const fromTables = await all(reader.windows(reader.summary()).over(whole, call))
    await reader.writeColumns(getColumnsFilePath(file), call)
    const columns = openColumns(getColumnsFilePath(file), fromTables[0]?.bodies ?? [])
    t.teardown(() => columns?.close())
    for (const window of fromTables) t.same(columns?.read([...window.frames], window.from), window)
    t.equal(columns?.read([-1], 0), undefined, 'returns undefined for an unknown window')
  })

t.test('openColumns ignores a file that is missing or truncated, or has different bodies', async (t) => {
  const file = createCopy(t, 'drop')
  const reader = openReader(file)
  t.teardown(() => reader.close())
  const columns = getColumnsFilePath(file)
  t.equal(openColumns(columns, [2]), undefined)
  await reader.writeColumns(columns, call)
  t.same(
    readdirSync(join(file, '..')).filter((name) => name.endsWith('.part')),
    [],
    'leaves no incomplete file',
  )
  t.equal(openColumns(columns, [77]), undefined)
  truncateSync(columns, 100)
  t.equal(openColumns(columns, [2]), undefined)
  truncateSync(columns, 10)
  t.equal(openColumns(columns, [2]), undefined)
})

/** Opens a library that prepares every recording and one analysis in the background. */
async function createLibrary(t: Test, dir: string, limits = {}): Promise<RecordingLibrary> {
  const library = await openLibrary({
    dir,
    roots: createRoots(fixtures),
    now: Date.now,
    worker: new URL('./counting-worker.ts', import.meta.url),
    analysesToPrepare: () => [count],
    limits: { minPreparedBodyFrames: 1, ...limits },
  })
  t.teardown(() => library.close())
  return library
}

const count = { name: 'count', args: {} }

/** Whether a private copy has a columns file. */
const isPrepared = (dir: string): boolean =>
  readdirSync(join(dir, 'snapshots')).some((name) => name.endsWith('-columns'))

verifies('recording:columns:behind', async (t) => {
  const { data } = folders(t)
  const library = await createLibrary(t, data)
  const { recording } = await library.open('drop.db')
  await until(() => library.health().preparing === 0)
  t.ok(isPrepared(data))
  const ask = (isCached: boolean) => recording.analyse<Counted>('count', {}, { isCached })
  const [prepared, again, fresh] = [await ask(true), await ask(true), await ask(false)]
  t.equal(prepared.frames, recording.summary.frames?.total_frames)
  t.same(again, prepared, 'caches the answer')
  t.not(fresh.run, prepared.run)
  t.not(fresh.thread, prepared.thread, 'a separate worker computes the prepared answer')
  t.equal(fresh.fromTables, 0, 'the reading worker reads the columns file')
  const before = library.health().snapshot_bytes
  await library.close()

  const next = await createLibrary(t, data)
  t.equal(next.health().snapshot_bytes, before, 'counts the columns file as bytes of the copy')
  const { recording: reopened } = await next.open('drop.db')
  const after = await reopened.analyse<Counted>('count', {})
  t.equal(after.fromTables, 0, 'reads the columns file after a restart')
  t.same(
    await reopened.analyse('count', {}, { isCached: true }),
    prepared,
    'stores the answer across restarts',
  )
})

t.test('background work starts after the pending calls of its recording', async (t) => {
  const { data } = folders(t)
  const library = await createLibrary(t, data, { maxForegroundIndexBytes: 0 })
  const folder = join(data, 'snapshots')
  const countBytes = () =>
    readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  const { recording } = await library.open('drop.db')
  const before = countBytes()
  const end = await recording.analyse<number>('occupy', { ms: 1500 })
  t.equal(countBytes(), before, 'the copy is not indexed yet')
  await until(() => library.health().preparing === 0)
  const { started } = await recording.analyse<Counted>('count', {}, { isCached: true })
  t.ok(started >= end, 'the prepared answer is newer')
})

t.test('analyse throws RECORDING_DAMAGED when it reads a damaged page', async (t) => {
  const library = await createLibrary(t, folders(t).data)
  const { recording } = await library.open('drop.db')
  const path = recording.identity.path
  await t.rejects(recording.analyse('fail', {}), { code: 'RECORDING_DAMAGED', data: { path } })
  t.match(await recording.analyse('count', {}), { frames: 150 }, 'the worker continues')
})

t.test('removing a copy also removes its columns file', async (t) => {
  const { files, data } = folders(t)
  const path = join(files, 'a.db')
  writeRecording(path, { frames: 30 })
  const library = await openLibrary({
    dir: data,
    roots: createRoots(files),
    now: Date.now,
    limits: { minPreparedBodyFrames: 1 },
  })
  t.teardown(() => library.close())
  await library.open(path)
  await until(() => isPrepared(data))
  rmSync(path)
  await library.list()
  t.same(readdirSync(join(data, 'snapshots')), [])
})

t.test('AnswersFile ignores answers of a different revision and a damaged file', async (t) => {
  const file = join(t.testdir(), 'a.db-answers')
  const question = { name: 'count', args: { a: 1 } }
  const now = new AnswersFile(file, 'now')
  t.same(now.find(question), [])
  now.add(question, { frames: Number.POSITIVE_INFINITY })
  t.same(new AnswersFile(file, 'now').find(question), [{ frames: Number.POSITIVE_INFINITY }])
  t.same(new AnswersFile(file, 'now').find({ name: 'count', args: { a: 2 } }), [])
  t.same(new AnswersFile(file, 'later').find(question), [])
  truncateSync(file, 20)
  t.same(new AnswersFile(file, 'now').find(question), [])
})

t.test('hashSources returns a new hash if the content of a source changes', async (t) => {
  const folder = pathToFileURL(`${t.testdir({ deep: { 'a.ts': 'one', 'note.txt': 'x' } })}/`)
  const before = hashSources([folder])
  writeFileSync(new URL('deep/note.txt', folder), 'y')
  writeFileSync(new URL('deep/a.d.ts', folder), 'of the build')
  t.equal(hashSources([folder]), before)
  writeFileSync(new URL('deep/a.ts', folder), 'two')
  t.not(hashSources([folder]), before)
})

const quiet = { signal: new AbortController().signal, progress() {} }

/** Opens a private copy of a fixture for reading. */
function createReader(t: Test, name: string) {
  const file = join(t.testdir(), `${name}.db`)
  copyFileSync(join(fixtures, `${name}.db`), file)
  prepareCopy(file, false)
  const reader = openReader(file)
  t.teardown(() => reader.close())
  return reader
}

for (const name of ['drop', 'late_spawn', 'era_flat_contacts', 'era_states_only', 'era_unified'])
  t.test(`windows of ${name} have the same numbers as its frames`, async (t) => {
    const reader = createReader(t, name)
    const windows = reader.windows(reader.summary())
    for (const window of await all(windows.over({ start: null, end: null }, quiet)))
      for (let row = window.from; row < window.to; row++) {
        const frame = reader.frame(window.frames[row] ?? 0)
        if (window.times[row] !== frame.simulation_time) t.fail(`time of frame ${frame.frame_id}`)
        const states = frame.states.map(({ body_id, position, velocity, orientation, angular_velocity }) => {
          const { w, x, y, z } = orientation
          const spin = angular_velocity ?? { x: Number.NaN, y: Number.NaN, z: Number.NaN }
          const numbers = [position, velocity].flatMap((v) => [v.x, v.y, v.z])
          return {
            body_id,
            numbers: [...numbers, w, x, y, z, spin.x, spin.y, spin.z].map((n) => n ?? Number.NaN),
          }
        })
        for (const { body_id, numbers } of states) {
          const column = window.bodies.indexOf(body_id)
          const at = (row * window.bodies.length + column) * stateAt.width
          t.same([...window.states.data.slice(at, at + stateAt.width)], numbers)
          t.equal(window.present[row * window.bodies.length + column], 1)
        }
        const rows = (flat: FrameWindow['friction']) => (flat.offset[row + 1] ?? 0) - (flat.offset[row] ?? 0)
        t.equal(rows(window.friction), frame.friction_constraints.length)
        t.equal(rows(window.constraints), frame.contact_constraints.length)
      }
  })

t.test('windows start with the previous frame as context and end with the range', async (t) => {
  const reader = createReader(t, 'drop')
  const [window, ...more] = await all(reader.windows(reader.summary()).over({ start: 20, end: 30 }, quiet))
  t.same(more, [])
  t.equal(window?.frames[window.from], 20)
  t.equal(window?.frames[window.from - 1], 19)
  t.equal(window?.frames[window.to - 1], 30)
})

t.test('windows stop on abort and remain cached if they were read', async (t) => {
  const reader = createReader(t, 'drop')
  const windows = reader.windows(reader.summary())
  const controller = new AbortController()
  controller.abort(new Error('enough'))
  await t.rejects(all(windows.over({ start: null, end: null }, { ...quiet, signal: controller.signal })), {
    message: 'enough',
  })
  t.equal(windows.bytes, 0)
  const reports: string[] = []
  const call = {
    ...quiet,
    progress: (_done: number, _total: number, message: string) => reports.push(message),
  }
  await all(windows.over({ start: null, end: null }, call))
  t.ok(windows.bytes > 0)
  t.ok(reports.length > 0)
  await all(
    windows.over({ start: null, end: null }, { ...quiet, progress: () => t.fail('a window was read twice') }),
  )
})

/** Creates a file with SQL. Returns its pages, and the row counts that SQLite reads. */
async function openPages(t: Test, sql: string, spoil: (bytes: Buffer) => void = () => {}) {
  const path = join(t.testdir(), 'file.db')
  const db = new Database(path)
  db.exec(sql)
  const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
  const counts = { big: count('big'), gaps: count('gaps'), empty: count('empty') }
  db.close()
  const { header, size } = await readFileState(path)
  spoil(header)
  const file = await open(path, 'r')
  t.teardown(() => file.close())
  return { pages: new SqlitePages(file, header, size), counts }
}

const rows = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i, 'row ' || i FROM n`

/** Creates enough tables for a schema of several pages. */
const sql = (pageSize: number) => `
  PRAGMA page_size = ${pageSize};
  ${Array.from({ length: 90 }, (_, i) => `CREATE TABLE filler_${i} (id INTEGER PRIMARY KEY, a_rather_long_column_name TEXT, another_one REAL);`).join('\n')}
  CREATE TABLE big (id INTEGER PRIMARY KEY, text TEXT);
  CREATE TABLE gaps (id INTEGER PRIMARY KEY, text TEXT);
  CREATE TABLE empty (id INTEGER PRIMARY KEY);
  INSERT INTO big ${rows(20_000)};
  INSERT INTO gaps ${rows(1000)};
  DELETE FROM gaps WHERE id % 3 = 0;`

const countTableRows = async (pages: SqlitePages, table: string, maxPages = 10_000) =>
  pages.countRows((await pages.readTables()).get(table) ?? 0, maxPages)

for (const pageSize of [1024, 4096, 65_536]) {
  t.test(
    `SqlitePages reads the same tables and row counts as SQLite from pages of ${pageSize} bytes`,
    async (t) => {
      const { pages, counts } = await openPages(t, sql(pageSize))
      t.equal((await pages.readTables()).size, 93)
      for (const [table, count] of Object.entries(counts))
        t.equal(await countTableRows(pages, table), count, table)
    },
  )
}

t.test('SqlitePages.countRows stops at the page limit', async (t) => {
  const { pages } = await openPages(t, sql(1024))
  t.equal(await countTableRows(pages, 'big', 20), null)
})

t.test('SqlitePages rejects a page count that exceeds the file size', async (t) => {
  const { pages } = await openPages(t, sql(4096), (header) => header.writeUInt32BE(1_000_000, 28))
  await t.rejects(pages.readTables(), MalformedFile)
})

t.test('SqlitePages rejects an invalid page size', async (t) => {
  const { pages } = await openPages(t, sql(4096), (header) => header.writeUInt16BE(1000, 16))
  await t.rejects(pages.readTables(), MalformedFile)
})

t.test('SqlitePages rejects a root page outside of the file', async (t) => {
  const { pages } = await openPages(t, sql(4096))
  await t.rejects(pages.countRows(900_000, 10), MalformedFile)
  await t.rejects(pages.countRows(0, 10), MalformedFile)
})

t.test('SlabAllocator does not reuse memory before clear', async (t) => {
  const slabs = new SlabAllocator()
  const lengths = Array.from({ length: 400 }, (_, i) => (i * 37) % 900)
  // An array that is longer than a slab gets separate memory.
  const taken = [...lengths, 100_000, 5].map((length, i) => slabs.allocate(length).fill(i))
  t.same(
    taken.map(({ length }) => length),
    [...lengths, 100_000, 5],
  )
  t.ok(taken.every((numbers, i) => numbers.every((number) => number === i)))
})

t.test('SlabAllocator reuses memory after clear', async (t) => {
  const slabs = new SlabAllocator()
  const [first, second] = [slabs.allocate(10), slabs.allocate(10)]
  slabs.clear()
  const again = slabs.allocate(20)
  t.equal(again.buffer, first.buffer)
  t.equal(again.byteOffset, first.byteOffset)
  again.fill(7)
  t.same([first[0], second[9]], [7, 7])
})

t.test('SlabAllocator retains a limited number of slabs', async (t) => {
  const slabs = new SlabAllocator()
  const fill = (): ReadonlySet<unknown> =>
    new Set(Array.from({ length: 100 }, () => slabs.allocate(60_000).buffer))
  const first = fill()
  slabs.clear()
  const kept = [...fill()].filter((buffer) => first.has(buffer))
  t.equal(first.size, 100)
  t.equal(kept.length, 16)
})

t.test('NumberRows preserves its rows when it grows', async (t) => {
  const rows = new NumberRows()
  for (let i = 0; i < 1000; i++) {
    const at = rows.append(3)
    rows.numbers.set([i, -i, i / 2], at)
  }
  const taken = rows.view()
  t.equal(taken.length, 3000)
  t.same([...taken.subarray(2997)], [999, -999, 499.5])
  t.ok(Array.from({ length: 1000 }, (_, i) => taken[3 * i] === i).every(Boolean))
  rows.clear()
  t.equal(rows.view().length, 0)
})

t.test('ResultCache counts bytes and evicts the least recently used results', async (t) => {
  const answers = new ResultCache(3)
  let asked = 0
  const ask = (key: string) =>
    answers.get(
      key,
      async () => {
        asked += 1
        return { key, values: new Float64Array(100) }
      },
      {},
    )
  for (const key of ['a', 'b', 'c', 'a']) await ask(key)
  t.equal(asked, 3)
  const { bytes } = answers
  t.ok(bytes >= 2400)
  t.ok(answers.shrink(1) >= 800)
  await ask('a')
  t.equal(asked, 3, 'retains the most recently used result')
  await ask('b')
  t.equal(asked, 4, 'evicts the least recently used result')
  await ask('d')
  t.equal(answers.bytes, bytes, 'retains three results')
  answers.shrink(Number.POSITIVE_INFINITY)
  t.equal(answers.bytes, 0)
})

t.test('estimateBytes adds the sizes of nested data', async (t) => {
  t.equal(estimateBytes('abc'), 19)
  t.equal(estimateBytes([1, null, true]), 16 + 24)
  t.equal(estimateBytes({ a: 1, b: { c: 'x' } }), 24 + 8 + 24 + 17)
  t.equal(estimateBytes(new Float64Array(10)), 64 + 80)
})
