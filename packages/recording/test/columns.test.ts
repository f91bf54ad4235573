import { copyFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { answersFile, revisionOf } from '../src/answers-file.ts'
import { columnsFileOf, openColumns } from '../src/columns-file.ts'
import { dataBytes } from '../src/domain/data-bytes.ts'
import { readFileState } from '../src/file-state.ts'
import { type FrameWindow, openLibrary, type RecordingLibrary, stateAt } from '../src/index.ts'
import { keptAnswers } from '../src/kept-answers.ts'
import { MalformedFile, type PageWalk, walkPages } from '../src/page-walk.ts'
import { prepareCopy } from '../src/prepare.ts'
import { openReader } from '../src/reader.ts'
import { NumberRows, numberRoom } from '../src/recorder/number-room.ts'
import type { Counted } from './counting-worker.ts'
import { folders, rootsOf, until } from './library-kit.ts'
import { writeRecording } from './write-recording.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/recordings')
const call = { signal: new AbortController().signal, progress() {} }
const whole = { start: null, end: null }

async function all(windows: AsyncGenerator<FrameWindow>): Promise<FrameWindow[]> {
  const found: FrameWindow[] = []
  for await (const window of windows) found.push(window)
  return found
}

/** A prepared copy of a fixture. */
function copyOf(t: Test, name: string): string {
  const file = join(t.testdir(), `${name}.db`)
  copyFileSync(join(fixtures, `${name}.db`), file)
  prepareCopy(file, false)
  return file
}

for (const name of ['drop', 'late_spawn', 'era_flat_contacts', 'era_states_only', 'stack'])
  verifies('recording:columns:file', `${name}: the file holds what the tables hold`, async (t) => {
    const file = copyOf(t, name)
    const reader = openReader(file)
    t.teardown(() => reader.close())
    const fromTables = await all(reader.windows(reader.summary()).over(whole, call))
    await reader.writeColumns(columnsFileOf(file), call)
    const columns = openColumns(columnsFileOf(file), fromTables[0]?.bodies ?? [])
    t.teardown(() => columns?.close())
    for (const window of fromTables) t.same(columns?.read([...window.frames], window.from), window)
    t.equal(columns?.read([-1], 0), undefined, 'a window that it has not')
  })

t.test('openColumns: a file that is absent, cut off, or of other bodies is none', async (t) => {
  const file = copyOf(t, 'drop')
  const reader = openReader(file)
  t.teardown(() => reader.close())
  const columns = columnsFileOf(file)
  t.equal(openColumns(columns, [2]), undefined)
  await reader.writeColumns(columns, call)
  t.same(
    readdirSync(join(file, '..')).filter((name) => name.endsWith('.part')),
    [],
    'it is put in place whole',
  )
  t.equal(openColumns(columns, [77]), undefined)
  truncateSync(columns, 100)
  t.equal(openColumns(columns, [2]), undefined)
  truncateSync(columns, 10)
  t.equal(openColumns(columns, [2]), undefined)
})

/** A library that prepares every recording and foresees one question. */
async function libraryOf(t: Test, dir: string): Promise<RecordingLibrary> {
  const library = await openLibrary({
    dir,
    roots: rootsOf(fixtures),
    now: Date.now,
    worker: new URL('./counting-worker.ts', import.meta.url),
    foreseen: () => [count],
    limits: { worthPreparing: 1 },
  })
  t.teardown(() => library.close())
  return library
}

const count = { name: 'count', args: {} }

/** Every private copy has its columns beside it. */
const isPrepared = (dir: string): boolean =>
  readdirSync(join(dir, 'snapshots')).some((name) => name.endsWith('-columns'))

verifies('recording:columns:behind', async (t) => {
  const { data } = folders(t)
  const library = await libraryOf(t, data)
  const { recording } = await library.open('drop.db')
  await until(() => library.health().preparing === 0)
  t.ok(isPrepared(data))
  const ask = (isKept: boolean) => recording.analyse<Counted>('count', {}, { isKept })
  const [foreseen, again, anew] = [await ask(true), await ask(true), await ask(false)]
  t.equal(foreseen.frames, recording.summary.frames?.total_frames)
  t.same(again, foreseen, 'the answer is kept')
  t.not(anew.run, foreseen.run)
  t.not(anew.thread, foreseen.thread, 'it was found by a worker of its own')
  t.equal(anew.fromTables, 0, 'the reading worker takes the columns from their file')
  const before = library.health().snapshot_bytes
  await library.close()

  const next = await libraryOf(t, data)
  t.equal(next.health().snapshot_bytes, before, 'the columns count as bytes of the copy')
  const { recording: reopened } = await next.open('drop.db')
  const after = await reopened.analyse<Counted>('count', {})
  t.equal(after.fromTables, 0, 'after a restart too')
  t.same(await reopened.analyse('count', {}, { isKept: true }), foreseen, 'the answer outlives the server')
})

t.test('analyse: a damaged page that an analysis reads is RECORDING_DAMAGED', async (t) => {
  const library = await libraryOf(t, folders(t).data)
  const { recording } = await library.open('drop.db')
  const path = recording.identity.path
  await t.rejects(recording.analyse('fail', {}), { code: 'RECORDING_DAMAGED', data: { path } })
  t.match(await recording.analyse('count', {}), { frames: 150 }, 'the worker goes on')
})

t.test('columns: they go with their copy', async (t) => {
  const { files, data } = folders(t)
  const path = join(files, 'a.db')
  writeRecording(path, { frames: 30 })
  const library = await openLibrary({
    dir: data,
    roots: rootsOf(files),
    now: Date.now,
    limits: { worthPreparing: 1 },
  })
  t.teardown(() => library.close())
  await library.open(path)
  await until(() => isPrepared(data))
  rmSync(path)
  await library.list()
  t.same(readdirSync(join(data, 'snapshots')), [])
})

t.test('answersFile: answers of other code, and a file that is damaged, are none', async (t) => {
  const file = join(t.testdir(), 'a.db-answers')
  const question = { name: 'count', args: { a: 1 } }
  const now = answersFile(file, 'now')
  t.same(now.find(question), [])
  now.keep(question, { frames: Number.POSITIVE_INFINITY })
  t.same(answersFile(file, 'now').find(question), [{ frames: Number.POSITIVE_INFINITY }])
  t.same(answersFile(file, 'now').find({ name: 'count', args: { a: 2 } }), [])
  t.same(answersFile(file, 'later').find(question), [])
  truncateSync(file, 20)
  t.same(answersFile(file, 'now').find(question), [])
})

t.test('revisionOf: a source that changes makes it another one', async (t) => {
  const folder = pathToFileURL(`${t.testdir({ deep: { 'a.ts': 'one', 'note.txt': 'x' } })}/`)
  const before = revisionOf([folder])
  writeFileSync(new URL('deep/note.txt', folder), 'y')
  writeFileSync(new URL('deep/a.d.ts', folder), 'of the build')
  t.equal(revisionOf([folder]), before)
  writeFileSync(new URL('deep/a.ts', folder), 'two')
  t.not(revisionOf([folder]), before)
})

const quiet = { signal: new AbortController().signal, progress() {} }

/** A private copy of a fixture, open for reading. */
function readerOf(t: Test, name: string) {
  const file = join(t.testdir(), `${name}.db`)
  copyFileSync(join(fixtures, `${name}.db`), file)
  prepareCopy(file, false)
  const reader = openReader(file)
  t.teardown(() => reader.close())
  return reader
}

for (const name of ['drop', 'late_spawn', 'era_flat_contacts', 'era_states_only', 'era_unified'])
  t.test(`windows: ${name} holds what its frames hold, number by number`, async (t) => {
    const reader = readerOf(t, name)
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

t.test(
  'windows: a range begins with the frame before it as context, and nothing beyond its end',
  async (t) => {
    const reader = readerOf(t, 'drop')
    const [window, ...more] = await all(reader.windows(reader.summary()).over({ start: 20, end: 30 }, quiet))
    t.same(more, [])
    t.equal(window?.frames[window.from], 20)
    t.equal(window?.frames[window.from - 1], 19)
    t.equal(window?.frames[window.to - 1], 30)
  },
)

t.test('windows: an abort ends them, and what was read is kept for the next look', async (t) => {
  const reader = readerOf(t, 'drop')
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
  await all(windows.over({ start: null, end: null }, { ...quiet, progress: () => t.fail('read twice') }))
})

/** A walk over a file that SQL makes, and what SQLite itself says of it. */
async function walkOver(t: Test, sql: string, spoil: (bytes: Buffer) => void = () => {}) {
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
  return { walk: walkPages(file, header, size), counts }
}

const rows = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i, 'row ' || i FROM n`

/** Many tables, so that the schema itself takes several pages. */
const sql = (pageSize: number) => `
  PRAGMA page_size = ${pageSize};
  ${Array.from({ length: 90 }, (_, i) => `CREATE TABLE filler_${i} (id INTEGER PRIMARY KEY, a_rather_long_column_name TEXT, another_one REAL);`).join('\n')}
  CREATE TABLE big (id INTEGER PRIMARY KEY, text TEXT);
  CREATE TABLE gaps (id INTEGER PRIMARY KEY, text TEXT);
  CREATE TABLE empty (id INTEGER PRIMARY KEY);
  INSERT INTO big ${rows(20_000)};
  INSERT INTO gaps ${rows(1000)};
  DELETE FROM gaps WHERE id % 3 = 0;`

const countOf = async (walk: PageWalk, table: string, maxPages = 10_000) =>
  walk.countRows((await walk.tables()).get(table) ?? 0, maxPages)

for (const pageSize of [1024, 4096, 65_536]) {
  t.test(`walkPages: names tables and counts rows as SQLite does, pages of ${pageSize} bytes`, async (t) => {
    const { walk, counts } = await walkOver(t, sql(pageSize))
    t.equal((await walk.tables()).size, 93)
    for (const [table, count] of Object.entries(counts)) t.equal(await countOf(walk, table), count, table)
  })
}

t.test('walkPages: counting stops where it would read too much', async (t) => {
  const { walk } = await walkOver(t, sql(1024))
  t.equal(await countOf(walk, 'big', 20), null)
})

t.test('walkPages: a header that promises more pages than there are is malformed', async (t) => {
  const { walk } = await walkOver(t, sql(4096), (header) => header.writeUInt32BE(1_000_000, 28))
  await t.rejects(walk.tables(), MalformedFile)
})

t.test('walkPages: a page size that cannot be is malformed', async (t) => {
  const { walk } = await walkOver(t, sql(4096), (header) => header.writeUInt16BE(1000, 16))
  await t.rejects(walk.tables(), MalformedFile)
})

t.test('walkPages: a root page that is not in the file is malformed', async (t) => {
  const { walk } = await walkOver(t, sql(4096))
  await t.rejects(walk.countRows(900_000, 10), MalformedFile)
  await t.rejects(walk.countRows(0, 10), MalformedFile)
})

t.test(
  'numberRoom: nothing that was taken is given to somebody else before the room is cleared',
  async (t) => {
    const room = numberRoom()
    const lengths = Array.from({ length: 400 }, (_, i) => (i * 37) % 900)
    // One that is longer than a slab stands alone.
    const taken = [...lengths, 100_000, 5].map((length, i) => room.take(length).fill(i))
    t.same(
      taken.map(({ length }) => length),
      [...lengths, 100_000, 5],
    )
    t.ok(taken.every((numbers, i) => numbers.every((number) => number === i)))
  },
)

t.test('numberRoom: memory that was taken is taken again after the room is cleared', async (t) => {
  const room = numberRoom()
  const [first, second] = [room.take(10), room.take(10)]
  room.clear()
  const again = room.take(20)
  t.equal(again.buffer, first.buffer)
  t.equal(again.byteOffset, first.byteOffset)
  again.fill(7)
  t.same([first[0], second[9]], [7, 7])
})

t.test('numberRoom: of what was needed once, a little is kept', async (t) => {
  const room = numberRoom()
  const fill = (): ReadonlySet<unknown> =>
    new Set(Array.from({ length: 100 }, () => room.take(60_000).buffer))
  const first = fill()
  room.clear()
  const kept = [...fill()].filter((buffer) => first.has(buffer))
  t.equal(first.size, 100)
  t.equal(kept.length, 16)
})

t.test('NumberRows: rows stay in order while there come more than were expected', async (t) => {
  const rows = new NumberRows()
  for (let i = 0; i < 1000; i++) {
    const at = rows.begin(3)
    rows.numbers.set([i, -i, i / 2], at)
  }
  const taken = rows.taken()
  t.equal(taken.length, 3000)
  t.same([...taken.subarray(2997)], [999, -999, 499.5])
  t.ok(Array.from({ length: 1000 }, (_, i) => taken[3 * i] === i).every(Boolean))
  rows.clear()
  t.equal(rows.taken().length, 0)
})

t.test(
  'keptAnswers: bytes are counted, and given back from the answer that was asked longest ago',
  async (t) => {
    const answers = keptAnswers(3)
    let asked = 0
    const ask = (key: string) =>
      answers.of(
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
    t.equal(asked, 3, 'the one that was asked last is kept')
    await ask('b')
    t.equal(asked, 4, 'the oldest was given back')
    await ask('d')
    t.equal(answers.bytes, bytes, 'no more than three are kept')
    answers.shrink(Number.POSITIVE_INFINITY)
    t.equal(answers.bytes, 0)
  },
)

t.test('dataBytes: plain data is as large as what it holds', async (t) => {
  t.equal(dataBytes('abc'), 19)
  t.equal(dataBytes([1, null, true]), 16 + 24)
  t.equal(dataBytes({ a: 1, b: { c: 'x' } }), 24 + 8 + 24 + 17)
  t.equal(dataBytes(new Float64Array(10)), 64 + 80)
})
