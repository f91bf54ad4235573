import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { appliedMigrations, type Migration, openDatabase } from '../src/index.ts'

const people: Migration = { name: 'people', up: 'CREATE TABLE person (name TEXT NOT NULL) STRICT' }
const ages: Migration = { name: 'ages', up: (db) => db.exec('ALTER TABLE person ADD COLUMN age INTEGER') }
const now = () => 1234

t.test('openDatabase: a new file is private and has every setting', async (t) => {
  const file = join(t.testdir(), 'deep', 'data.db')
  const db = openDatabase(file, { migrations: [people], now, synchronous: 'full' })
  t.teardown(() => db.close())
  t.equal(db.pragma('journal_mode', { simple: true }), 'wal')
  t.equal(db.pragma('synchronous', { simple: true }), 2)
  t.equal(db.pragma('foreign_keys', { simple: true }), 1)
  t.equal(db.pragma('busy_timeout', { simple: true }), 5000)
  db.exec(`INSERT INTO person VALUES ('Ada')`)
  t.equal(statSync(join(file, '..')).mode & 0o777, 0o700)
  for (const name of [file, `${file}-wal`, `${file}-shm`]) t.equal(statSync(name).mode & 0o777, 0o600)
})

t.test('openDatabase: synchronous is normal where nothing is said', async (t) => {
  const db = openDatabase(join(t.testdir(), 'data.db'), { migrations: [] })
  t.teardown(() => db.close())
  t.equal(db.pragma('synchronous', { simple: true }), 1)
})

t.test('openDatabase: missing migrations are applied in order, once, and recorded', async (t) => {
  const file = join(t.testdir(), 'data.db')
  openDatabase(file, { migrations: [people], now }).close()
  const db = openDatabase(file, { migrations: [people, ages], now: () => 5678 })
  t.teardown(() => db.close())
  t.same(appliedMigrations(db), ['people', 'ages'])
  t.same(db.prepare('SELECT version, name, applied_ms FROM causeway_migration').all(), [
    { version: 1, name: 'people', applied_ms: 1234 },
    { version: 2, name: 'ages', applied_ms: 5678 },
  ])
  db.exec(`INSERT INTO person (name, age) VALUES ('Ada', 36)`)
})

t.test(
  'openDatabase: a migration that fails leaves nothing of itself, and those before it stay',
  async (t) => {
    const file = join(t.testdir(), 'data.db')
    const broken: Migration = { name: 'broken', up: 'CREATE TABLE half (x); INSERT INTO nowhere VALUES (1)' }
    t.throws(() => openDatabase(file, { migrations: [people, broken], now }), { code: 'SQLITE_ERROR' })
    const db = openDatabase(file, { migrations: [people], now })
    t.teardown(() => db.close())
    t.same(appliedMigrations(db), ['people'])
    t.equal(db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'half'`).get(), undefined)
  },
)

t.test('openDatabase: a file of a newer version is refused and stays as it is', async (t) => {
  const file = join(t.testdir(), 'data.db')
  openDatabase(file, { migrations: [people, ages], now }).close()
  const before = readFileSync(file)
  t.throws(() => openDatabase(file, { migrations: [people], now }), {
    code: 'NEWER_DATA',
    data: { file, migration: 'ages' },
  })
  t.ok(readFileSync(file).equals(before))
})

t.test(
  'openDatabase: a file whose tables another build has made is refused and stays as it is',
  async (t) => {
    const file = join(t.testdir(), 'data.db')
    openDatabase(file, { migrations: [people], now }).close()
    const before = readFileSync(file)
    const spaced = { ...people, up: `\n  ${people.up}\n` }
    openDatabase(file, { migrations: [spaced], now }).close()
    const other = { ...people, up: 'CREATE TABLE person (name TEXT NOT NULL, age INTEGER) STRICT' }
    const refused = { code: 'DATA_SCHEMA_DIFFERS', data: { file, migration: 'people' } }
    t.throws(() => openDatabase(file, { migrations: [other], now }), refused)
    t.ok(readFileSync(file).equals(before))
    const db = openDatabase(file, { migrations: [people], now })
    db.exec('ALTER TABLE causeway_migration DROP COLUMN sql_hash')
    db.close()
    t.throws(
      () => openDatabase(file, { migrations: [people], now }),
      refused,
      'also from before hashes were kept',
    )
  },
)

t.test('openDatabase: a file that is no database, or a torn one, is damaged', async (t) => {
  const file = join(t.testdir(), 'data.db')
  writeFileSync(file, 'this is no database at all, but it is long enough to be one'.repeat(20))
  t.throws(() => openDatabase(file, { migrations: [people], now }), {
    code: 'DATA_DAMAGED',
    data: { file: basename(file) },
  })
})

t.test('openDatabase: a place that cannot be written is told so', async (t) => {
  const folder = t.testdir({ taken: 'a file where a folder should be' })
  t.throws(() => openDatabase(join(folder, 'taken', 'data.db'), { migrations: [], now }), {
    code: 'DATA_UNWRITABLE',
  })
  mkdirSync(join(folder, 'data.db'))
  t.throws(() => openDatabase(join(folder, 'data.db'), { migrations: [], now }), { code: 'DATA_UNWRITABLE' })
})
