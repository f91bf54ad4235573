import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { backup, backupFile, type Migration, openDatabase, restore } from '../src/index.ts'

const migrations: readonly Migration[] = [{ name: 'notes', up: 'CREATE TABLE note (text TEXT) STRICT' }]

/** An open data file with this many notes, and the folder it is in. */
function notes(t: Test, count: number) {
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

const countIn = (file: string): unknown => {
  const db = openDatabase(file, { migrations })
  const count = db.prepare('SELECT count(*) FROM note').pluck().get()
  db.close()
  return count
}

t.test('backup: a running database is copied whole, with progress, into one private file', async (t) => {
  const { folder, db, fill } = notes(t, 2000)
  const to = join(folder, 'backup.db')
  const seen: number[] = []
  await backup(db, to, {
    progress: (done, total) => {
      if (seen.length === 0) fill(1)
      seen.push(done / total)
    },
  })
  t.ok(seen.length > 1 && seen.every((part) => part >= 0 && part <= 1), 'progress is told in steps')
  t.equal(statSync(to).mode & 0o777, 0o600)
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('backup')),
    ['backup.db'],
  )
  t.equal(countIn(to), 2001, 'what was written meanwhile is there too')
})

t.test('backup: a cancelled one leaves the earlier backup', async (t) => {
  const { folder, db } = notes(t, 2000)
  const to = join(folder, 'backup.db')
  writeFileSync(to, 'earlier')
  const controller = new AbortController()
  const going = backup(db, to, { signal: controller.signal, progress: () => controller.abort() })
  await t.rejects(going, { code: 'CANCELLED' })
  t.equal(readFileSync(to, 'utf8'), 'earlier')
  t.notOk(existsSync(`${to}.part`))
})

t.test('backup: a place that cannot be written is told so', async (t) => {
  const { folder, db } = notes(t, 1)
  await t.rejects(backup(db, join(folder, 'data.db', 'below')), { code: 'DATA_UNWRITABLE' })
  await t.rejects(backup(db, folder), { code: 'DATA_UNWRITABLE' })
})

t.test('restore: brings a closed data file back to the backup', async (t) => {
  const { folder, file, db, fill } = notes(t, 3)
  const saved = join(folder, 'backup.db')
  await backup(db, saved)
  fill(5)
  db.close()
  await restore(saved, file, { migrations })
  t.equal(countIn(file), 3)
})

t.test('restore: a damaged or a newer backup never replaces data', async (t) => {
  const { folder, file, db } = notes(t, 500)
  const saved = join(folder, 'backup.db')
  await backup(db, saved)
  db.close()
  await t.rejects(restore(saved, file, { migrations: [{ name: 'other', up: '' }] }), { code: 'NEWER_DATA' })
  await t.rejects(restore(join(folder, 'nothing.db'), file, { migrations }), { code: 'FILE_NOT_FOUND' })
  truncateSync(saved, 8192)
  await t.rejects(restore(saved, file, { migrations }), { code: 'DATA_DAMAGED' })
  t.equal(countIn(file), 500)
})

t.test(
  'backupFile keeps the earlier backup if the source is empty, missing, replaced or damaged',
  async (t) => {
    const { folder, file, db } = notes(t, 500)
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
