import Database from 'better-sqlite3'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
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
  'EXPLAIN PRAGMA query_only = OFF',
  '/**/ EXPLAIN /**/ QUERY -- plan\n PLAN PRAGMA writable_schema = ON',
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

const unsafe = [
  'SELECT * FROM pragma_database_list',
  'SELECT * FROM pragma_database_list AS harmless',
  'SELECT * FROM main.pragma_database_list',
  'SELECT * FROM "pragma_compile_options"',
  "SELECT * FROM pragma_table_info('pair')",
  'SELECT a FROM pair WHERE a IN (SELECT seq FROM [pragma_database_list])',
  'WITH x AS (SELECT * FROM pragma_module_list) SELECT * FROM x',
  'EXPLAIN QUERY PLAN SELECT * FROM pragma_function_list',
  'SELECT * FROM dbstat',
  'SELECT * FROM fts3tokenize',
  'SELECT * FROM sqlite_dbpage',
  "SELECT * FROM zipfile('/tmp/x.zip')",
  "SELECT * FROM fsdir('/')",
  "SELECT readfile('/etc/passwd')",
  "SELECT fts3_tokenizer('simple')",
  'SELECT "fts3_tokenizer"(?)',
  "SELECT a FROM pair ORDER BY fts3_tokenizer('simple', x'00')",
  "SELECT a FROM pair LIMIT fts3_tokenizer('simple')",
  "EXPLAIN SELECT fts3_tokenizer('simple')",
  "SELECT load_extension('/tmp/x.so')",
  "SELECT 1 WHERE 0 AND load_extension('/tmp/x.so')",
  'SELECT sqlite_log(1, 2)',
  "SELECT rtreecheck('pair')",
]

verifies(
  'replay:sql:gates',
  'prepareReading refuses functions and virtual tables that are not known to be harmless',
  async (t) => {
    const db = new Database(':memory:')
    t.teardown(() => db.close())
    db.exec('CREATE TABLE pair(a); INSERT INTO pair VALUES (7)')
    for (const sql of unsafe)
      t.throws(() => prepareReading(db, sql, sql.includes('?') ? ['simple'] : []), { name: 'Refusal' }, sql)
  },
)

t.test(
  'prepareReading refuses a virtual table of the recording that hides behind an allowed name',
  async (t) => {
    const db = new Database(':memory:')
    t.teardown(() => db.close())
    db.exec('CREATE VIRTUAL TABLE json_each USING fts5(a)')
    t.throws(() => prepareReading(db, 'SELECT * FROM json_each'), { name: 'Refusal' })
  },
)

t.test('prepareReading allows harmless functions, json tables and the views of the connection', async (t) => {
  const db = new Database(':memory:')
  t.teardown(() => db.close())
  db.exec('CREATE TABLE pair(a); INSERT INTO pair VALUES (7)')
  db.table('pair_of', {
    columns: ['a'],
    *rows() {
      yield [7]
    },
  })
  db.exec('CREATE TEMP VIEW v_pair AS SELECT a FROM pair_of')
  const allowed = [
    ["SELECT value FROM json_each('[7]') AS j", [], [[7]]],
    ['SELECT value FROM json_tree(:json) WHERE atom = :seven', { json: '[7]', seven: 7 }, [[7]]],
    ['SELECT a FROM v_pair', [], [[7]]],
    [
      'SELECT median(a), percentile(a, 50), sum(a) OVER (), max(a), round(sqrt(a), 1) FROM pair',
      [],
      [[7, 7, 7, 7, 2.6]],
    ],
    [
      "SELECT upper(printf('%d', a)), json_object('a', a) ->> 'a', date('2000-01-01') FROM pair",
      [],
      [['7', 7, '2000-01-01']],
    ],
  ] as const
  for (const [sql, params, rows] of allowed) {
    const statement = prepareReading(db, sql, params)
    t.same(Array.isArray(params) ? statement.all(...params) : statement.all(params), rows, sql)
  }
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
