import Database from 'better-sqlite3'
import t from 'tap'
import { prepareReading } from '../src/query/statement-gate.ts'

const refused = [
  'DELETE FROM pair',
  'UPDATE pair SET a = 0 RETURNING a',
  'INSERT INTO pair VALUES (1)',
  'CREATE TEMP TABLE x(y)',
  "ATTACH '/tmp/stolen.db' AS stolen",
  "VACUUM INTO '/tmp/stolen.db'",
  "/* SELECT */ VACUUM INTO '/tmp/stolen.db'",
  '-- SELECT\nPRAGMA writable_schema = ON',
  'PRAGMA writable_schema = ON',
  'PRAGMA journal_mode = DELETE',
  'PRAGMA temp_store_directory',
  'PRAGMA table_info(pair) ; DELETE FROM pair',
  'SELECT 1; DELETE FROM pair',
  'SELECT * FROM pragma_writable_schema(1)',
  'BEGIN IMMEDIATE',
  'WITH x AS (SELECT 1) DELETE FROM pair RETURNING a',
  'EXPLAIN',
  'SELECT writefile(1, 2)',
  'not sql',
  ' ',
]

t.test('query gate: what does not only read is refused, before it runs', async (t) => {
  const db = new Database(':memory:')
  t.teardown(() => db.close())
  db.exec('CREATE TABLE pair(a); INSERT INTO pair VALUES (7)')
  for (const sql of refused) t.throws(() => prepareReading(db, sql), { name: 'Refusal' }, sql)
  t.same(db.prepare('SELECT a FROM pair').all(), [{ a: 7 }])
})

t.test('query gate: one statement that reads is prepared, comments and all', async (t) => {
  const db = new Database(':memory:')
  t.teardown(() => db.close())
  db.exec('CREATE TABLE pair(a); INSERT INTO pair VALUES (7)')
  const allowed = [
    ['SELECT a FROM pair', [[7]]],
    ['-- why\n/* and how */ select a from pair;', [[7]]],
    ['WITH x AS (SELECT a FROM pair) SELECT * FROM x', [[7]]],
    ['VALUES (1)', [[1]]],
    ['PRAGMA table_info(pair)', [[0, 'a', '', 0, null, 0]]],
  ] as const
  for (const [sql, rows] of allowed) t.same(prepareReading(db, sql).all(), rows, sql)
})
