import { execFileSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { devNull } from 'node:os'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { backupFile, type Migration, openDatabase, sidecars } from '../src/index.ts'
import { listMigrations } from '../src/migrate.ts'

const people: Migration = { name: 'people', up: 'CREATE TABLE person (name TEXT NOT NULL) STRICT' }
const ages: Migration = { name: 'ages', up: (db) => db.exec('ALTER TABLE person ADD COLUMN age INTEGER') }
const now = () => 1234

t.test('openDatabase creates a private file and applies its settings', async (t) => {
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

t.test('openDatabase sets synchronous to normal by default', async (t) => {
  const db = openDatabase(join(t.testdir(), 'data.db'), { migrations: [] })
  t.teardown(() => db.close())
  t.equal(db.pragma('synchronous', { simple: true }), 1)
})

t.test('openDatabase applies and records each missing migration once, in order', async (t) => {
  const file = join(t.testdir(), 'data.db')
  openDatabase(file, { migrations: [people], now }).close()
  const db = openDatabase(file, { migrations: [people, ages], now: () => 5678 })
  t.teardown(() => db.close())
  t.same(listMigrations(db), ['people', 'ages'])
  t.same(db.prepare('SELECT version, name, applied_ms FROM causeway_migration').all(), [
    { version: 1, name: 'people', applied_ms: 1234 },
    { version: 2, name: 'ages', applied_ms: 5678 },
  ])
  db.exec(`INSERT INTO person (name, age) VALUES ('Ada', 36)`)
})

t.test('openDatabase rolls back a failed migration and retains earlier ones', async (t) => {
  const file = join(t.testdir(), 'data.db')
  const broken: Migration = { name: 'broken', up: 'CREATE TABLE half (x); INSERT INTO nowhere VALUES (1)' }
  t.throws(() => openDatabase(file, { migrations: [people, broken], now }), { code: 'SQLITE_ERROR' })
  const db = openDatabase(file, { migrations: [people], now })
  t.teardown(() => db.close())
  t.same(listMigrations(db), ['people'])
  t.equal(db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'half'`).get(), undefined)
})

t.test('openDatabase rejects a file of a newer version and leaves it unchanged', async (t) => {
  const file = join(t.testdir(), 'data.db')
  openDatabase(file, { migrations: [people, ages], now }).close()
  const before = readFileSync(file)
  t.throws(() => openDatabase(file, { migrations: [people], now }), {
    code: 'NEWER_DATA',
    data: { file, migration: 'ages' },
  })
  t.ok(readFileSync(file).equals(before))
})

t.test('openDatabase rejects a file with changed migration statements and leaves it unchanged', async (t) => {
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
  t.throws(() => openDatabase(file, { migrations: [people], now }), refused, 'a file without hashes')
})

t.test('openDatabase reports a file that is not a database as DATA_DAMAGED', async (t) => {
  const file = join(t.testdir(), 'data.db')
  writeFileSync(file, 'this text is not a database, but it is long enough to be one'.repeat(20))
  t.throws(() => openDatabase(file, { migrations: [people], now }), {
    code: 'DATA_DAMAGED',
    data: { file: basename(file) },
  })
})

t.test('openDatabase reports a path that cannot be written as DATA_UNWRITABLE', async (t) => {
  const folder = t.testdir({ taken: 'a file where a folder should be' })
  t.throws(() => openDatabase(join(folder, 'taken', 'data.db'), { migrations: [], now }), {
    code: 'DATA_UNWRITABLE',
  })
  mkdirSync(join(folder, 'data.db'))
  t.throws(() => openDatabase(join(folder, 'data.db'), { migrations: [], now }), { code: 'DATA_UNWRITABLE' })
})

t.test(
  'openDatabase reports a reached limit of open files as OVERLOADED',
  existsSync('/usr/bin/prlimit') ? {} : { skip: 'the system has no prlimit' },
  async (t) => {
    const file = createDatabase(join(t.testdir(), 'data.db'), now)
    const softLimit = execFileSync('sh', ['-c', 'ulimit -Sn'], { encoding: 'utf8' }).trim()
    const limitFiles = (count: number | string) =>
      execFileSync('prlimit', [`--pid=${process.pid}`, `--nofile=${count}:`])
    limitFiles(500)
    const descriptors: number[] = []
    try {
      while (true) descriptors.push(openSync(devNull, 'r'))
    } catch (error) {
      t.match(error, { code: 'EMFILE' })
    }
    const releaseFiles = (count: number) => {
      for (const descriptor of descriptors.splice(0, count)) closeSync(descriptor)
    }
    for (const free of [1, 2]) {
      releaseFiles(1)
      t.throws(
        () => openDatabase(file, { migrations: [people], now }),
        { code: 'OVERLOADED' },
        `${free} free`,
      )
    }
    releaseFiles(descriptors.length)
    limitFiles(softLimit)
    openDatabase(file, { migrations: [people], now }).close()
  },
)

/** Returns the path of a closed database with one row. */
function createDatabase(file: string, now: () => number): string {
  const db = openDatabase(file, { migrations: [people], now })
  db.exec(`INSERT INTO person VALUES ('Ada')`)
  db.close()
  return file
}

const readPeople = (file: string): unknown => {
  const db = openDatabase(file, { migrations: [people], now })
  try {
    return db.prepare('SELECT name FROM person').pluck().all()
  } finally {
    db.close()
  }
}

/** Ways to lose the data of an initialized database. */
const losses: Readonly<Record<string, (file: string) => void>> = {
  'is empty': (file) => truncateSync(file),
  'is missing': (file) => rmSync(file),
  'was replaced by another one': (file) => {
    const fresh = createDatabase(join(dirname(file), 'fresh', 'data.db'), () => 5678)
    copyFileSync(fresh, file)
  },
  'was replaced by a database without tables': (file) => {
    new Database(file.replace('data.db', 'blank.db')).exec('VACUUM').close()
    copyFileSync(file.replace('data.db', 'blank.db'), file)
  },
}

for (const [loss, lose] of Object.entries(losses))
  t.test(`openDatabase refuses an initialized database that ${loss}`, async (t) => {
    const file = createDatabase(join(t.testdir(), 'data.db'), now)
    lose(file)
    const before = readIfExists(file)
    t.throws(() => openDatabase(file, { migrations: [people], now }), {
      code: 'DATA_MISSING',
      remedy: /causeway restore/,
      data: { file: 'data.db', marker: 'data.db.initialized' },
    })
    t.same(readIfExists(file), before, 'the file is unchanged')
  })

const readIfExists = (file: string): Buffer | undefined => (existsSync(file) ? readFileSync(file) : undefined)

for (const [loss, lose] of Object.entries({ empty: truncateSync, missing: rmSync }))
  t.test(`openDatabase preserves the log of an unmarked database whose file is ${loss}`, async (t) => {
    const dir = t.testdir()
    const file = join(dir, 'data.db')
    const db = openDatabase(file, { migrations: [people], now })
    db.exec(`INSERT INTO person VALUES ('Ada')`)
    mkdirSync(join(dir, 'crashed'))
    const crashed = join(dir, 'crashed', 'data.db')
    for (const suffix of ['', '-wal']) copyFileSync(`${file}${suffix}`, `${crashed}${suffix}`)
    db.close()
    const log = readFileSync(`${crashed}-wal`)
    t.ok(log.length > 0)
    lose(crashed)
    t.throws(() => openDatabase(crashed, { migrations: [people], now }), { code: 'DATA_MISSING' })
    t.ok(readFileSync(`${crashed}-wal`).equals(log))
  })

t.test('openDatabase opens an initialized database without a marker and adds the marker', async (t) => {
  const file = createDatabase(join(t.testdir(), 'data.db'), now)
  rmSync(`${file}.initialized`)
  t.same(readPeople(file), ['Ada'])
  t.same(JSON.parse(readFileSync(`${file}.initialized`, 'utf8')), { initialized_ms: 1234 })
  t.equal(statSync(`${file}.initialized`).mode & 0o777, 0o600)
})

t.test('openDatabase completes a marker that a crash left empty', async (t) => {
  const file = createDatabase(join(t.testdir(), 'data.db'), now)
  truncateSync(`${file}.initialized`)
  t.same(readPeople(file), ['Ada'])
  t.match(readFileSync(`${file}.initialized`, 'utf8'), /1234/)
})

t.test('openDatabase starts over after all files of a database are removed', async (t) => {
  const file = createDatabase(join(t.testdir(), 'data.db'), now)
  for (const suffix of ['', ...sidecars]) rmSync(`${file}${suffix}`, { force: true })
  t.same(readPeople(file), [])
})

t.test(
  'openDatabase flushes the migrations from the log to the file before it writes the marker',
  async (t) => {
    const dir = t.testdir({ lost: {} })
    const file = join(dir, 'data.db')
    const db = openDatabase(file, { migrations: [people], now })
    t.teardown(() => db.close())
    // Simulates a power failure, which loses a log that was not flushed.
    for (const suffix of ['', '.initialized'])
      copyFileSync(`${file}${suffix}`, join(dir, 'lost', `data.db${suffix}`))
    t.same(readPeople(join(dir, 'lost', 'data.db')), [])
  },
)

t.test(
  'openDatabase reports a damaged migration table as DATA_DAMAGED, not as a newer version',
  async (t) => {
    for (const [from, to] of [
      ['people', 'peOple'],
      [/[0-9a-f]{64}/, 'x'.repeat(64)],
    ] as const) {
      const file = createDatabase(join(t.testdir(), 'data.db'), now)
      const text = readFileSync(file, 'latin1')
      const row = text.lastIndexOf(text.match(/people[0-9a-f]{64}/)?.[0] ?? 'nothing')
      const damaged = `${text.slice(0, row)}${text.slice(row).replace(from, to)}`
      t.not(damaged, text)
      writeFileSync(file, damaged, 'latin1')
      t.throws(() => openDatabase(file, { migrations: [people], now }), {
        code: 'DATA_DAMAGED',
        data: { file: 'data.db' },
      })
    }
  },
)

t.test('openDatabase reports a table that overwrote the migration table as DATA_DAMAGED', async (t) => {
  const file = createDatabase(join(t.testdir(), 'data.db'), now)
  rmSync(`${file}.initialized`)
  const db = new Database(file)
  const [history, person] = ['causeway_migration', 'person'].map((name) =>
    db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(name),
  ) as [number, number]
  db.prepare('DELETE FROM person').run()
  db.close()
  const bytes = readFileSync(file)
  bytes.copy(bytes, (history - 1) * 4096, (person - 1) * 4096, person * 4096)
  writeFileSync(file, bytes)
  t.throws(() => openDatabase(file, { migrations: [people], now }), { code: 'DATA_DAMAGED' })
})

const migrations: readonly Migration[] = [{ name: 'notes', up: 'CREATE TABLE note (text TEXT) STRICT' }]

/** Opens a database with `count` notes. */
function openNotes(t: Test, count: number) {
  const folder = t.testdir()
  const file = join(folder, 'data.db')
  const db = openDatabase(file, { migrations })
  t.teardown(() => db.close())
  const insert = db.prepare('INSERT INTO note VALUES (?)')
  const fill = db.transaction((n: number) => {
    for (let i = 0; i < n; i++) insert.run('x'.repeat(1000))
  })
  fill(count)
  return { folder, file, db, fill }
}

const countNotes = (file: string): unknown => {
  const db = openDatabase(file, { migrations })
  const count = db.prepare('SELECT count(*) FROM note').pluck().get()
  db.close()
  return count
}

t.test('backupFile copies the state at its start into one private file', async (t) => {
  const { folder, file, fill } = openNotes(t, 2000)
  const to = join(folder, 'backup.db')
  const copying = backupFile(file, to)
  fill(1)
  await copying
  t.equal(statSync(to).mode & 0o777, 0o600)
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('backup')),
    ['backup.db'],
  )
  t.equal(countNotes(to), 2000)
  t.equal(countNotes(file), 2001)
})

t.test('a cancelled backupFile leaves the earlier backup unchanged', async (t) => {
  const { folder, file } = openNotes(t, 2000)
  const to = join(folder, 'backup.db')
  writeFileSync(to, 'earlier')
  const controller = new AbortController()
  const copying = backupFile(file, to, { signal: controller.signal })
  controller.abort()
  await t.rejects(copying, { code: 'CANCELLED' })
  t.equal(readFileSync(to, 'utf8'), 'earlier')
  t.notOk(existsSync(`${to}.part`))
})

t.test('backupFile reports a target that cannot be written as DATA_UNWRITABLE', async (t) => {
  const { folder, file } = openNotes(t, 1)
  await t.rejects(backupFile(file, join(folder, 'data.db', 'below')), { code: 'DATA_UNWRITABLE' })
  await t.rejects(backupFile(file, folder), { code: 'DATA_UNWRITABLE' })
})

t.test(
  'backupFile leaves the earlier backup unchanged if the source is empty, missing, replaced or damaged',
  async (t) => {
    const { folder, file, db } = openNotes(t, 500)
    db.close()
    const to = join(folder, 'backup.db')
    await backupFile(file, to)
    const good = readFileSync(to)
    const bytes = readFileSync(file)
    const damages: Readonly<Record<string, readonly [code: string, damage: () => void]>> = {
      empty: ['DATA_MISSING', () => truncateSync(file)],
      missing: ['DATA_MISSING', () => rmSync(file)],
      replaced: ['DATA_MISSING', () => new Database(file).exec('CREATE TABLE note (text TEXT)').close()],
      'cut off': ['DATA_DAMAGED', () => writeFileSync(file, bytes.subarray(0, 40_960))],
      'full of holes': [
        'DATA_DAMAGED',
        () => writeFileSync(file, Buffer.from(bytes).fill(0, 16_384, 40_960)),
      ],
    }
    for (const [name, [code, damage]] of Object.entries(damages)) {
      damage()
      await t.rejects(backupFile(file, to), { code, data: { file: 'data.db' } }, name)
      t.ok(readFileSync(to).equals(good), `${name}: the earlier backup is unchanged`)
    }
  },
)
