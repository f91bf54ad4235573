import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { FolderLock, openDatabase } from '@causeway/store'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { backup, restore } from '../../src/backup/backup.ts'
import { type CopyJob, copyData } from '../../src/backup/copy-data.ts'
import { takeDataFolder } from '../../src/backup/data-folder.ts'
import type { OwnedPart } from '../../src/backup/data-part.ts'
import { manifestName } from '../../src/backup/manifest.ts'
import { restoreData } from '../../src/backup/restore-data.ts'
import { checkDataFolder } from '../../src/cli/doctor/machine-checks.ts'
import { readRows } from './data-rows.ts'

const migrations = [{ name: 'notes', up: 'CREATE TABLE note (path TEXT, text TEXT) STRICT' }]

/** Data of an app: a cache, several databases, files, and a database that refers to the files. */
const parts: readonly OwnedPart[] = [
  { app: 'Notes', path: 'cache/', kind: 'passing' },
  { app: 'Notes', path: 'runs/*.db', kind: 'database' },
  { app: 'Notes', path: 'texts/', kind: 'files' },
  {
    app: 'Notes',
    path: 'notes.db',
    kind: 'database',
    schema: ['notes'],
    paths: ['note.path'],
    withoutSecrets: `DELETE FROM note WHERE text = 'hunter2'`,
    restored: `INSERT INTO note VALUES ('', 'restored')`,
  },
]

/** Creates a data folder whose database is open and has rows in the log. */
function createData(t: Test, count = 3) {
  const root = t.testdir({
    data: {
      cache: { 'big.bin': 'again' },
      texts: { 'a.txt': 'alpha', deep: { 'b.txt': 'beta' }, 'c.txt.tmp': 'half' },
      runs: {},
      'other.txt': 'unnamed',
    },
  })
  const dir = join(root, 'data')
  const db = openDatabase(join(dir, 'notes.db'), { migrations })
  t.teardown(() => db.close())
  const insert = db.prepare('INSERT INTO note VALUES (?, ?)')
  db.transaction(() => {
    for (let i = 0; i < count; i++) insert.run(join(dir, `texts/${i}`), 'x'.repeat(1000))
  })()
  insert.run('/elsewhere/data', 'hunter2')
  const run = openDatabase(join(dir, 'runs/one.db'), { migrations })
  run.close()
  return { root, dir, db, insert, target: join(root, 'backup'), fresh: join(root, 'fresh') }
}

/** Makes a backup in this thread, so that a test can change the data in between. */
const copy = (
  dataDir: string,
  target: string,
  more: Partial<CopyJob> = {},
  watch: Parameters<typeof copyData>[1] = {},
) => {
  const facts = { version: '1', madeAt: new Date(0).toISOString(), request: null, withSecrets: false }
  return copyData({ dataDir, target, parts, ...facts, ...more }, watch)
}

/** Restores a backup in this thread. */
const restoreHere = (
  source: string,
  dataDir: string,
  more: { parts?: readonly OwnedPart[]; replace?: boolean } = {},
  watch: Parameters<typeof restoreData>[1] = {},
) => restoreData({ source, dataDir, parts, replace: false, nowMs: 0, ...more }, watch)

const listPaths = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1))
    .sort()

verifies('backup:whole', async (t) => {
  const { dir, target, db } = createData(t)
  const seen: (readonly [number, number])[] = []
  const manifest = await backup(dir, target, parts, {
    nowMs: 0,
    progress: (done, total = 0) => seen.push([done, total]),
  })
  t.same(
    manifest.files.map(({ path, kind, app }) => [path, kind, app]).sort(),
    [
      ['notes.db', 'database', 'Notes'],
      ['other.txt', 'files', null],
      ['runs/one.db', 'database', 'Notes'],
      ['texts/a.txt', 'files', 'Notes'],
      ['texts/deep/b.txt', 'files', 'Notes'],
    ],
    'without transient files, with undeclared files',
  )
  t.match(manifest, { made_at: '1970-01-01T00:00:00.000Z', has_secrets: false, data_dir: dir })
  t.same(manifest.files.find(({ path }) => path === 'notes.db')?.schema, ['notes'])
  t.same(listPaths(target), [manifestName, ...manifest.files.map(({ path }) => `data/${path}`)].sort())
  t.same(JSON.parse(readFileSync(join(target, manifestName), 'utf8')), manifest)
  t.ok(seen.length >= 5 && seen.every(([done, total]) => done <= total), 'progress is reported')
  t.same(seen.at(-1)?.[0], seen.at(-1)?.[1])
  t.equal(readRows(join(target, 'data/notes.db')).note?.length, 3, 'without the secret')
  t.notOk(readFileSync(join(target, 'data/notes.db')).includes('hunter2'))
  t.equal(db.prepare('SELECT count(*) FROM note').pluck().get(), 4, 'the data is unchanged')
})

verifies('backup:restored', async (t) => {
  const { dir, target, fresh } = createData(t)
  await backup(dir, target, parts, { withSecrets: true })
  const { movedTo } = await restore(target, fresh, parts)
  t.equal(movedTo, undefined)
  t.same(listPaths(fresh), [
    'notes.db',
    'other.txt',
    'runs/one.db',
    'server.lock',
    'texts/a.txt',
    'texts/deep/b.txt',
  ])
  const db = openDatabase(join(fresh, 'notes.db'), { migrations })
  t.teardown(() => db.close())
  t.same(
    db.prepare('SELECT path FROM note ORDER BY rowid').pluck().all(),
    [0, 1, 2].map((i) => join(fresh, `texts/${i}`)).concat('/elsewhere/data', ''),
    'paths in the data folder change, other paths do not, and the SQL of the part ran',
  )
})

verifies('backup:refused', async (t) => {
  const { root, dir, target, fresh } = createData(t)
  await copy(dir, target)
  const at = (path: string) => join(target, 'data', path)
  const original = new Map(listPaths(target).map((path) => [path, readFileSync(join(target, path))]))
  const newer = () => {
    const db = new Database(at('notes.db'))
    db.exec(`INSERT INTO causeway_migration VALUES (2, 'of a newer version', '', 0)`)
    db.close()
  }
  const manifest = (change: (text: string) => string) => () =>
    writeFileSync(join(target, manifestName), change(readFileSync(join(target, manifestName), 'utf8')))
  const cases: readonly [string, string, () => void][] = [
    ['a changed byte', 'BACKUP_DAMAGED', () => writeFileSync(at('texts/a.txt'), 'alphb')],
    ['a longer file', 'BACKUP_DAMAGED', () => appendFileSync(at('texts/a.txt'), '.')],
    ['a changed database', 'BACKUP_DAMAGED', newer],
    ['a missing file', 'BACKUP_DAMAGED', () => rmSync(at('other.txt'))],
    ['an additional file', 'BACKUP_DAMAGED', () => writeFileSync(at('evil.db'), '')],
    [
      'a link out of the backup',
      'BACKUP_DAMAGED',
      () => {
        rmSync(at('other.txt'))
        symlinkSync('/etc/hostname', at('other.txt'))
      },
    ],
    [
      'a path out of the folder',
      'BACKUP_DAMAGED',
      manifest((text) => text.replace('other.txt', '../other.txt')),
    ],
    ['a manifest that is not JSON', 'BACKUP_DAMAGED', manifest(() => 'null}')],
    ['a newer format', 'NEWER_DATA', manifest((text) => text.replace('"format": 1', '"format": 2'))],
    ['no manifest', 'BACKUP_NOT_FOUND', () => rmSync(join(target, manifestName))],
  ]
  for (const [name, code, damage] of cases) {
    damage()
    await t.rejects(restoreHere(target, fresh), { code }, name)
    rmSync(target, { recursive: true })
    for (const [path, bytes] of original) {
      mkdirSync(join(target, path, '..'), { recursive: true })
      writeFileSync(join(target, path), bytes)
    }
  }
  const older = parts.map((part) => (part.path === 'notes.db' ? { ...part, schema: [] } : part))
  await t.rejects(restoreHere(target, fresh, { parts: older }), { code: 'NEWER_DATA' }, 'an unknown schema')
  await t.rejects(restoreHere(join(root, 'none'), fresh), { code: 'BACKUP_NOT_FOUND' })
  t.same(readdirSync(root).sort(), ['backup', 'data'], 'nothing was restored, and no folder remains')
})

verifies('backup:consent', async (t) => {
  const { root, dir, target, db } = createData(t)
  await copy(dir, target)
  db.close()
  writeFileSync(join(dir, 'texts/a.txt'), 'changed since')
  await t.rejects(restoreHere(target, dir), { code: 'DATA_EXISTS' })
  const lock = new FolderLock(dir)
  await t.rejects(restoreHere(target, dir, { replace: true }), { code: 'DATA_IN_USE' })
  t.equal(readFileSync(join(dir, 'texts/a.txt'), 'utf8'), 'changed since')
  lock.release()
  const { movedTo } = await restoreHere(target, dir, { replace: true })
  t.equal(movedTo, `${dir}.before-1970-01-01T00-00-00-000Z`)
  t.equal(readFileSync(join(dir, 'texts/a.txt'), 'utf8'), 'alpha')
  t.equal(readFileSync(join(movedTo ?? '', 'texts/a.txt'), 'utf8'), 'changed since')
  t.ok(existsSync(join(movedTo ?? '', 'cache/big.bin')), 'the cache is moved too')
  t.same(readdirSync(root).sort(), ['backup', 'data', 'data.before-1970-01-01T00-00-00-000Z'])
})

verifies('backup:restore-alone', async (t) => {
  const { root, dir, target, fresh, db } = createData(t)
  await copy(dir, target)
  db.close()
  for (const place of [fresh, dir]) {
    const refused: unknown[] = []
    const progress = (): void => {
      try {
        takeDataFolder(place, {}).release()
      } catch (error) {
        refused.push((error as { code?: unknown }).code)
      }
    }
    const { movedTo } = await restoreHere(target, place, { replace: true }, { progress })
    t.same([...new Set(refused)], ['DATA_IN_USE'], 'during every copy')
    t.ok(refused.length > 3)
    t.equal(movedTo, place === fresh ? undefined : `${dir}.before-1970-01-01T00-00-00-000Z`)
    t.notOk(existsSync(join(place, 'server.json')), 'no holder is recorded')
    t.equal(readFileSync(join(place, 'texts/a.txt'), 'utf8'), 'alpha')
    takeDataFolder(place, {}).release()
  }
  const stop = new AbortController()
  const never = join(root, 'never')
  await t.rejects(restoreHere(target, never, {}, { signal: stop.signal, progress: () => stop.abort() }))
  t.same(readdirSync(root).sort(), ['backup', 'data', 'data.before-1970-01-01T00-00-00-000Z', 'fresh'])
})

verifies(
  'backup:restore-cut-short',
  'a server does not start between the renames of a restore',
  async (t) => {
    const { root, dir, target, db } = createData(t)
    await copy(dir, target)
    db.close()
    const aside = `${dir}.before-2026-01-01T00-00-00-000Z`
    renameSync(dir, aside)
    mkdirSync(`${dir}.restoring`)
    const before = readdirSync(root)
    const remedy = `run causeway restore again; to go back, rename ${aside} to ${dir}; to begin with nothing, move it elsewhere`
    const refused = { code: 'RESTORE_UNFINISHED', data: { left: [aside, `${dir}.restoring`] }, remedy }
    t.throws(() => takeDataFolder(dir, {}), refused)
    t.match(checkDataFolder(dir), { state: 'fail', fix: remedy })
    t.same(readdirSync(root), before, 'nothing is created')
    new FolderLock(dir).release()
    t.throws(() => takeDataFolder(dir, {}), refused, 'a folder with only a lock is empty')

    await restoreHere(target, dir)
    takeDataFolder(dir, {}).release()
    t.same(readdirSync(root).sort(), ['backup', 'data', basename(aside)], 'the previous data remains')
  },
)

verifies('backup:all-or-nothing', async (t) => {
  const { root, dir, target, insert: write } = createData(t, 3000)
  const controller = new AbortController()
  const cancelled = backup(dir, target, parts, {
    signal: controller.signal,
    progress: () => controller.abort(),
  })
  await t.rejects(cancelled, { code: 'CANCELLED' })
  t.same(readdirSync(root), ['data'])
  for (const inside of ['', 'texts/backup', 'backup.tmp', 'texts/backup.new', 'cache'])
    await t.rejects(copy(dir, join(dir, inside)), { code: 'INVALID_ARGUMENTS' }, `inside the data: ${inside}`)
  await t.rejects(copy(join(root, 'none'), target), { code: 'FILE_NOT_FOUND' })
  if (existsSync('/proc/self'))
    await t.rejects(copy(dir, '/proc/causeway'), {
      code: 'DATA_UNWRITABLE',
      message: 'no folder can be created in /proc',
      remedy: 'choose another folder, or correct the permissions',
    })
  write.run('', 'still open')
  await copy(dir, target)
  await t.rejects(copy(dir, target), { code: 'DATA_EXISTS' }, 'a backup is not overwritten')
  writeFileSync(join(dir, 'runs/broken.db'), 'not a database'.repeat(100))
  await t.rejects(copy(dir, join(root, 'second')), {
    code: 'DATA_DAMAGED',
    data: { file: 'broken.db' },
  })
  t.same(readdirSync(root).sort(), ['backup', 'data'])
})

verifies('backup:whole', 'a file named *.initialized that is not a marker is copied', async (t) => {
  const { dir, target } = createData(t)
  const paths = [
    'app.initialized',
    'cache/lost.db.initialized',
    'texts/a.txt.initialized',
    'texts/list.initialized',
  ]
  for (const path of paths) writeFileSync(join(dir, path), 'content of a user')
  const { files } = await copy(dir, target)
  t.same(
    files.flatMap(({ path }) => (path.endsWith('.initialized') ? [path] : [])).sort(),
    ['app.initialized', 'texts/a.txt.initialized', 'texts/list.initialized'],
    'without the markers of notes.db and runs/one.db, and without the cache',
  )
})

verifies('backup:no-loss', async (t) => {
  const { root, dir, target, db } = createData(t)
  db.close()
  await copy(dir, target)
  const good = listPaths(target).map((path) => readFileSync(join(target, path)))
  const losses: Readonly<Record<string, readonly [code: string, lose: (file: string) => void]>> = {
    emptied: ['DATA_MISSING', (file) => truncateSync(file)],
    removed: ['DATA_MISSING', (file) => rmSync(file)],
    replaced: ['DATA_MISSING', (file) => new Database(file).exec('DROP TABLE causeway_migration').close()],
    damaged: ['DATA_DAMAGED', (file) => writeFileSync(file, readFileSync(file).fill(0, 8192))],
  }
  for (const path of ['notes.db', 'runs/one.db'])
    for (const [name, [code, lose]] of Object.entries(losses)) {
      const before = readFileSync(join(dir, path))
      lose(join(dir, path))
      const made = copy(dir, join(root, 'second'))
      await t.rejects(made, { code, data: { file: basename(path) } }, `${path} ${name}`)
      writeFileSync(join(dir, path), before)
    }
  t.same(readdirSync(root).sort(), ['backup', 'data'], 'there is no other backup')
  t.same(
    listPaths(target).map((path) => readFileSync(join(target, path))),
    good,
    'the earlier backup is unchanged',
  )
})

verifies('backup:names-hold', async (t) => {
  const { dir, target, db, insert: note } = createData(t, 0)
  db.exec('DELETE FROM note')
  // Each text is written before a note refers to it, and removed after the note.
  const texts = join(dir, 'texts')
  const drop = db.prepare('DELETE FROM note WHERE path = ?')
  let count = 0
  const work = (): void => {
    const [name, old] = [`n${count}`, `n${count - 5}`]
    count += 1
    writeFileSync(join(texts, `${name}.new`), name)
    renameSync(join(texts, `${name}.new`), join(texts, name))
    note.run(name, '')
    drop.run(old)
    rmSync(join(texts, old), { force: true })
  }
  for (let i = 0; i < 20; i++) work()
  for (const changes of [0, 1, 3, 7, 12]) {
    const to = `${target}-${changes}`
    let left = changes
    await copy(dir, to, {}, { progress: () => void (left-- > 0 && work()) })
    const names = readRows(join(to, 'data/notes.db')).note?.map((row) => JSON.parse(row)[0]) ?? []
    t.equal(names.length, 5)
    t.same(
      names.filter((name) => !existsSync(join(to, 'data/texts', name))),
      [],
      'every referenced file exists',
    )
  }
  await t.rejects(copy(dir, target, {}, { progress: work }), { code: 'BACKUP_UNSETTLED' })
})
