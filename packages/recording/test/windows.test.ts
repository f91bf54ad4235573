import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import {
  columnsParts,
  createColumnsWriter,
  getColumnsFilePath,
  openColumns,
} from '../src/formats/columns-file.ts'
import {
  allColumns,
  type ColumnSelection,
  collisionAt,
  energyAt,
  type FrameWindow,
  frictionAt,
  stateAt,
  type WindowPart,
} from '../src/formats/frame-window.ts'
import { makeEraMap, readSchema } from '../src/formats/schema-era.ts'
import { prepareCopy } from '../src/library/prepare.ts'
import { readAppearances } from '../src/reader/cpp/body-reader.ts'
import { createRowBounds } from '../src/reader/cpp/row-bounds.ts'
import { createWindowReader } from '../src/reader/cpp/window-reader.ts'
import { openReader } from '../src/reader/open-reader.ts'
import { CachedWindows, type WindowSource } from '../src/reader/windows.ts'
import type { FrameRange } from '../src/types.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/recordings')
const call = { signal: new AbortController().signal, progress() {} }
const whole = { start: null, end: null }

/** Opens a fixture. Records the rows that statements return, by the tables in their SQL. */
function openFixture(t: Test, name: string) {
  const file = join(t.testdir(), `${name}.db`)
  copyFileSync(join(fixtures, `${name}.db`), file)
  prepareCopy(file, false)
  const reader = openReader(file)
  const db = new Database(file, { readonly: true })
  t.teardown(() => {
    reader.close()
    db.close()
  })
  const read: { readonly tables: readonly string[]; readonly rows: number }[] = []
  const prepare = (sql: string) => {
    const statement = db.prepare(sql)
    const all = statement.all.bind(statement)
    statement.all = (...values) => {
      const rows = all(...values)
      const tables = [...sql.matchAll(/(?:FROM|JOIN) "?(\w+)/g)].map(([, table = '']) => table)
      read.push({ tables, rows: rows.length })
      return rows
    }
    return statement
  }
  const watched = new Proxy(db, {
    get: (target, key) => (key === 'prepare' ? prepare : Reflect.get(target, key)),
  })
  const era = makeEraMap(readSchema(db))
  const connection = { db: watched, era, bounds: createRowBounds(db), isIndexed: () => true }
  const { frames, bodies } = reader.summary()
  const [first, last] = [frames?.first_frame ?? 0, frames?.last_frame ?? -1]
  const ids = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  return { file, reader, connection, ids, bodies: bodies.map(({ body_id }) => body_id), read }
}

verifies('recording:columns:selected', async (t) => {
  const { connection, ids, bodies, read } = openFixture(t, 'stack')
  t.ok(bodies.length > 1)
  const [body = 0] = bodies
  const window = createWindowReader(connection, bodies, { parts: ['velocity'], bodies: [body] })(ids, 0)
  t.same(window.bodies, [body])
  const states = read.filter(({ tables }) => tables.includes('AssetDynamicStateRecord'))
  t.same(
    states.map(({ tables }) => tables),
    [['AssetDynamicStateRecord', 'InertialStateRecord', 'VelocityRecord']],
    'reads velocities with one query',
  )
  t.equal(states[0]?.rows, ids.length, 'reads one row per frame')
  const others = read.filter((query) => !states.includes(query))
  t.same(
    others.map(({ tables }) => tables),
    [['SimulationFrameRecord']],
    'reads no other tables',
  )
  t.ok(window.states.data.length > 0)
  for (let row = 0; row < ids.length; row++) {
    t.ok(Number.isFinite(window.states.get(row, 0, stateAt.velocity)))
    t.ok(Number.isNaN(window.states.get(row, 0, stateAt.position)))
  }
})

/** Block and range of columns of each part. */
const columns: Readonly<Record<WindowPart, readonly [Block, from: number, to: number]>> = {
  position: ['states', stateAt.position, stateAt.velocity],
  velocity: ['states', stateAt.velocity, stateAt.orientation],
  orientation: ['states', stateAt.orientation, stateAt.spin],
  spin: ['states', stateAt.spin, stateAt.width],
  energies: ['energies', 0, energyAt.width],
  system: ['system', 0, 7],
  solver: ['solver', 0, 5],
  collisions: ['collisions', collisionAt.a, collisionAt.normal],
  collisionNormals: ['collisions', collisionAt.normal, collisionAt.depth],
  constraints: ['constraints', 0, 14],
  friction: ['friction', frictionAt.mu, frictionAt.width],
  frictionVectors: ['friction', frictionAt.normal, frictionAt.mu],
  externals: ['externals', 0, 10],
  joints: ['joints', 0, 13],
}

type Block =
  | 'states'
  | 'energies'
  | 'system'
  | 'solver'
  | 'collisions'
  | 'constraints'
  | 'friction'
  | 'externals'
  | 'joints'

/** Returns the numbers of a part of a window. For states and energies, only those of one body. */
function listNumbers(window: FrameWindow, part: WindowPart, body: number): number[] {
  const [name, from, to] = columns[part]
  const block = window[name]
  const { data, shape } = 'shape' in block ? block : block.data
  const width = shape.at(-1) ?? 0
  const column = window.bodies.indexOf(body)
  return [...data].filter((_, i) => {
    const isShown = shape.length < 3 || Math.floor(i / width) % window.bodies.length === column
    return isShown && i % width >= from && i % width < to
  })
}

for (const name of ['stack', 'late_spawn', 'era_flat_contacts', 'era_states_only', 'era_unified'])
  t.test(`windows of ${name} have the same numbers in every selection`, async (t) => {
    const { connection, ids, bodies } = openFixture(t, name)
    const all = createWindowReader(connection, bodies, allColumns)(ids, 0)
    const needed: Partial<Record<WindowPart, WindowPart>> = {
      collisionNormals: 'collisions',
      frictionVectors: 'friction',
    }
    for (const part of allColumns.parts)
      for (const body of bodies) {
        const parts = [part, needed[part] ?? part]
        const selected = createWindowReader(connection, bodies, { parts, bodies: [body] })(ids, 0)
        t.same(listNumbers(selected, part, body), listNumbers(all, part, body), `${part} of body ${body}`)
      }
  })

t.test('states without body ids are assigned to the same bodies in a selection', async (t) => {
  const { reader, connection, ids, bodies } = openFixture(t, 'stack')
  reader.close()
  const db = new Database(connection.db.name)
  db.pragma('foreign_keys = OFF')
  db.exec('UPDATE AssetDynamicStateRecord SET body_id = NULL WHERE frame_id = 20')
  db.close()
  const all = createWindowReader(connection, bodies, allColumns)(ids, 0)
  for (const body of bodies) {
    const selected = createWindowReader(connection, bodies, { parts: ['position'], bodies: [body] })(ids, 0)
    t.same(listNumbers(selected, 'position', body), listNumbers(all, 'position', body))
    t.equal(selected.present[19], 1)
  }
})

t.test('repeated selections are cached, and windows of all columns serve every selection', async (t) => {
  const { reader } = openFixture(t, 'stack')
  const windows = reader.windows(reader.summary())
  const read = async (selection?: ColumnSelection) => {
    const before = windows.fromTables
    for await (const _ of windows.over(whole, call, selection));
    return windows.fromTables - before
  }
  const speeds: ColumnSelection = { parts: ['velocity'] }
  t.ok((await read(speeds)) > 0)
  t.equal(await read(speeds), 0, 'reads nothing for a repeated request')
  t.ok((await read()) > 0)
  t.equal(await read({ parts: ['solver'] }), 0, 'uses the cached complete windows')
})

t.test('CachedWindows evicts windows of other selections when the cache is full', async (t) => {
  const { connection, ids, bodies } = openFixture(t, 'stack')
  const prepare = (selection: ColumnSelection) => createWindowReader(connection, bodies, selection)
  const size = createWindowReader(connection, bodies, allColumns)(ids, 0).states.data.byteLength
  const windows = new CachedWindows({ ids, bodies, prepare, maxBytes: 2 * size })
  const read = async (part: WindowPart) => {
    const before = windows.fromTables
    for await (const _ of windows.over(whole, call, { parts: [part] }));
    t.ok(windows.bytes <= 2 * size)
    return windows.fromTables - before
  }
  t.ok((await read('position')) > 0)
  t.ok((await read('velocity')) > 0)
  t.equal(await read('velocity'), 0)
  t.ok((await read('position')) > 0, 'reads an evicted window again')
})

t.test('readAppearances finds the first frame of every body, even in unordered tables', async (t) => {
  const { reader, connection, ids } = openFixture(t, 'late_spawn')
  const wanted = connection.db
    .prepare(
      `SELECT body_id, min(frame_id) AS first_frame FROM (SELECT body_id, frame_id FROM AssetDynamicStateRecord
       UNION ALL SELECT body_id, frame_id FROM EnergyRecord) WHERE body_id > 0 GROUP BY body_id ORDER BY body_id`,
    )
    .all()
  t.ok(new Set(wanted.map((row) => (row as { first_frame: number }).first_frame)).size > 1)
  t.same(readAppearances(connection, ids), wanted)
  const bounds = { ...connection.bounds, isOrdered: () => false }
  t.same(readAppearances({ ...connection, bounds }, ids), wanted)
  reader.close()
})

/** Opens windows of two frames, so that a fixture counts as long. */
function longWindows(t: Test, name: string) {
  const { file, connection, ids, bodies } = openFixture(t, name)
  const path = getColumnsFilePath(file)
  const prepare = (selection: ColumnSelection) => createWindowReader(connection, bodies, selection)
  const columns = {
    open: () => openColumns(path, bodies),
    create: () => createColumnsWriter(path, bodies),
  }
  const source: WindowSource = { ids, bodies, prepare, windowFrames: 2, columns }
  const files = () => readdirSync(dirname(file)).filter((name) => name.includes('columns'))
  return { file, source, files, path }
}

async function listFrames(windows: CachedWindows, range: FrameRange = whole): Promise<FrameWindow[]> {
  const found: FrameWindow[] = []
  for await (const window of windows.over(range, call)) found.push(window)
  return found
}

verifies('recording:columns:once', async (t) => {
  const { file, source, files, path } = longWindows(t, 'drop')
  const { columns, ...plain } = source
  const wanted = await listFrames(new CachedWindows(plain))
  t.ok(wanted.length >= 64)
  const windows = new CachedWindows({ ...source, file })
  t.same(await listFrames(windows), wanted)
  t.ok(windows.fromTables < wanted.length, 'another thread reads the other windows')
  t.same(files(), [basename(path)], 'the columns file is complete')
  t.equal(windows.bytes, 0, 'does not cache windows of the columns file')
  const before = windows.fromTables
  t.same(await listFrames(windows), wanted)
  t.equal(windows.fromTables, before, 'reads no table for the next request')
})

t.test('a long read uses its second thread even if some windows are cached', async (t) => {
  const { file, source } = longWindows(t, 'drop')
  const { columns, ...plain } = source
  const wanted = await listFrames(new CachedWindows(plain))
  const windows = new CachedWindows({ ...plain, file })
  for (const window of wanted.slice(1, 20).filter((_, i) => i % 2 === 0)) {
    const id = window.frames[window.from] ?? 0
    await listFrames(windows, { start: id, end: id })
  }
  const before = windows.fromTables
  t.same(await listFrames(windows), wanted)
  t.ok(windows.fromTables - before < 0.75 * wanted.length, 'the other thread reads about half of the windows')
})

t.test('reading a part of a long recording does not write a columns file', async (t) => {
  const { file, source, files } = longWindows(t, 'drop')
  const range = { start: 3, end: null }
  const { columns, ...plain } = source
  t.same(
    await listFrames(new CachedWindows({ ...source, file }), range),
    await listFrames(new CachedWindows(plain), range),
  )
  t.same(files(), [])
})

t.test('a long read that ends early does not leave a file', async (t) => {
  const { file, source, files } = longWindows(t, 'drop')
  for await (const _ of new CachedWindows({ ...source, file }).over(whole, call)) break
  t.same(files(), [])
})

t.test('if its second thread fails, a long read continues alone', async (t) => {
  const { file, source } = longWindows(t, 'drop')
  const windows = new CachedWindows({ ...source, file: `${file}.missing` })
  const { columns, ...plain } = source
  t.same(await listFrames(windows), await listFrames(new CachedWindows(plain)))
})

t.test('two concurrent requests for a whole recording write one columns file', async (t) => {
  const { file, source, files, path } = longWindows(t, 'drop')
  const { columns, ...plain } = source
  const wanted = await listFrames(new CachedWindows(plain))
  const windows = new CachedWindows({ ...source, file })
  t.same(await Promise.all([listFrames(windows), listFrames(windows)]), [wanted, wanted])
  t.same(files(), [basename(path)])
  t.same(await listFrames(new CachedWindows({ ...source, file })), wanted)
})

t.test('a request succeeds even if its columns file cannot be written', async (t) => {
  const { file, source, path } = longWindows(t, 'drop')
  mkdirSync(`${path}${columnsParts.request}`)
  const { columns, ...plain } = source
  const windows = new CachedWindows({ ...source, file })
  t.same(await listFrames(windows), await listFrames(new CachedWindows(plain)))
})
