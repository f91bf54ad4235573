import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { readFileState } from '../src/file-state.ts'
import { MalformedFile, type PageWalk, walkPages } from '../src/page-walk.ts'

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
