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
import { lockFolder, openDatabase } from '@causeway/store'
import Database from 'better-sqlite3'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { backup, restore } from '../../src/backup/backup.ts'
import { type CopyJob, copyData } from '../../src/backup/copy-data.ts'
import { takeDataFolder } from '../../src/backup/data-folder.ts'
import { manifestName } from '../../src/backup/manifest.ts'
import { restoreData } from '../../src/backup/restore-data.ts'
import { dataCheck } from '../../src/cli/machine-checks.ts'
import type { OwnedPart } from '../../src/domain/data-part.ts'
import { rowsOf } from './data-rows.ts'

const migrations = [{ name: 'notes', up: 'CREATE TABLE note (path TEXT, text TEXT) STRICT' }]

/** An app with a database that names files, many databases, files and a cache. */
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

/** A data folder in use: its database is open, with what was written still in the log. */
function dataIn(t: Test, count = 3) {
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
  const put = db.prepare('INSERT INTO note VALUES (?, ?)')
  db.transaction(() => {
    for (let i = 0; i < count; i++) put.run(join(dir, `texts/${i}`), 'x'.repeat(1000))
  })()
  put.run('/elsewhere/data', 'hunter2')
  const run = openDatabase(join(dir, 'runs/one.db'), { migrations })
  run.close()
  return { root, dir, db, put, target: join(root, 'backup'), fresh: join(root, 'fresh') }
}

/** A backup in this thread, where a test may act in its middle. */
const copy = (
  dataDir: string,
  target: string,
  more: Partial<CopyJob> = {},
  watch: Parameters<typeof copyData>[1] = {},
) => {
  const facts = { version: '1', madeAt: new Date(0).toISOString(), request: null, withSecrets: false }
  return copyData({ dataDir, target, parts, ...facts, ...more }, watch)
}

/** A restore in this thread. */
const put = (
  source: string,
  dataDir: string,
  more: { parts?: readonly OwnedPart[]; replace?: boolean } = {},
  watch: Parameters<typeof restoreData>[1] = {},
) => restoreData({ source, dataDir, parts, replace: false, nowMs: 0, ...more }, watch)

const filesOf = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1))
    .sort()

verifies('backup:whole', async (t) => {
  const { dir, target, db } = dataIn(t)
  const seen: (readonly [number, number])[] = []
  const manifest = await backup(dir, target, parts, {
    nowMs: 0,
    onProgress: (done, total) => seen.push([done, total]),
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
    'what passes is left out, what nobody named is there',
  )
  t.match(manifest, { made_at: '1970-01-01T00:00:00.000Z', has_secrets: false, data_dir: dir })
  t.same(manifest.files.find(({ path }) => path === 'notes.db')?.schema, ['notes'])
  t.same(filesOf(target), [manifestName, ...manifest.files.map(({ path }) => `data/${path}`)].sort())
  t.same(JSON.parse(readFileSync(join(target, manifestName), 'utf8')), manifest)
  t.ok(seen.length >= 5 && seen.every(([done, total]) => done <= total), 'progress is told')
  t.same(seen.at(-1)?.[0], seen.at(-1)?.[1])
  t.equal(rowsOf(join(target, 'data/notes.db')).note?.length, 3, 'without the secret')
  t.notOk(readFileSync(join(target, 'data/notes.db')).includes('hunter2'))
  t.equal(db.prepare('SELECT count(*) FROM note').pluck().get(), 4, 'the data are as they were')
})

verifies('backup:restored', async (t) => {
  const { dir, target, fresh } = dataIn(t)
  await backup(dir, target, parts, { withSecrets: true })
  const { movedTo } = await restore(target, fresh, parts)
  t.equal(movedTo, undefined)
  t.same(filesOf(fresh), [
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
    'paths follow, others stay, and the step after a restore was made',
  )
})

verifies('backup:refused', async (t) => {
  const { root, dir, target, fresh } = dataIn(t)
  await copy(dir, target)
  const at = (path: string) => join(target, 'data', path)
  const kept = new Map(filesOf(target).map((path) => [path, readFileSync(join(target, path))]))
  const newer = () => {
    const db = new Database(at('notes.db'))
    db.exec(`INSERT INTO causeway_migration VALUES (2, 'of next year', '', 0)`)
    db.close()
  }
  const manifest = (change: (text: string) => string) => () =>
    writeFileSync(join(target, manifestName), change(readFileSync(join(target, manifestName), 'utf8')))
  const cases: readonly [string, string, () => void][] = [
    ['a changed byte', 'BACKUP_DAMAGED', () => writeFileSync(at('texts/a.txt'), 'alphb')],
    ['a longer file', 'BACKUP_DAMAGED', () => appendFileSync(at('texts/a.txt'), '.')],
    ['a changed database', 'BACKUP_DAMAGED', newer],
    ['a missing file', 'BACKUP_DAMAGED', () => rmSync(at('other.txt'))],
    ['a file more', 'BACKUP_DAMAGED', () => writeFileSync(at('evil.db'), '')],
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
    ['a manifest that is no JSON', 'BACKUP_DAMAGED', manifest(() => 'null}')],
    ['a newer format', 'NEWER_DATA', manifest((text) => text.replace('"format": 1', '"format": 2'))],
    ['no manifest', 'BACKUP_NOT_FOUND', () => rmSync(join(target, manifestName))],
  ]
  for (const [name, code, spoil] of cases) {
    spoil()
    await t.rejects(put(target, fresh), { code }, name)
    rmSync(target, { recursive: true })
    for (const [path, bytes] of kept) {
      mkdirSync(join(target, path, '..'), { recursive: true })
      writeFileSync(join(target, path), bytes)
    }
  }
  const older = parts.map((part) => (part.path === 'notes.db' ? { ...part, schema: [] } : part))
  await t.rejects(
    put(target, fresh, { parts: older }),
    { code: 'NEWER_DATA' },
    'a schema that this program does not know',
  )
  await t.rejects(put(join(root, 'none'), fresh), { code: 'BACKUP_NOT_FOUND' })
  t.same(readdirSync(root).sort(), ['backup', 'data'], 'nothing was restored, nothing stays')
})

verifies('backup:consent', async (t) => {
  const { root, dir, target, db } = dataIn(t)
  await copy(dir, target)
  db.close()
  writeFileSync(join(dir, 'texts/a.txt'), 'changed since')
  await t.rejects(put(target, dir), { code: 'DATA_EXISTS' })
  const lock = lockFolder(dir)
  await t.rejects(put(target, dir, { replace: true }), { code: 'DATA_IN_USE' })
  t.equal(readFileSync(join(dir, 'texts/a.txt'), 'utf8'), 'changed since')
  lock.release()
  const { movedTo } = await put(target, dir, { replace: true })
  t.equal(movedTo, `${dir}.before-1970-01-01T00-00-00-000Z`)
  t.equal(readFileSync(join(dir, 'texts/a.txt'), 'utf8'), 'alpha')
  t.equal(readFileSync(join(movedTo ?? '', 'texts/a.txt'), 'utf8'), 'changed since')
  t.ok(existsSync(join(movedTo ?? '', 'cache/big.bin')), 'all of it')
  t.same(readdirSync(root).sort(), ['backup', 'data', 'data.before-1970-01-01T00-00-00-000Z'])
})

verifies('backup:restore-alone', async (t) => {
  const { root, dir, target, fresh, db } = dataIn(t)
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
    const { movedTo } = await put(target, place, { replace: true }, { progress })
    t.same([...new Set(refused)], ['DATA_IN_USE'], 'with every piece that is copied')
    t.ok(refused.length > 3)
    t.equal(movedTo, place === fresh ? undefined : `${dir}.before-1970-01-01T00-00-00-000Z`)
    t.notOk(existsSync(join(place, 'server.json')), 'nobody is said to hold it')
    t.equal(readFileSync(join(place, 'texts/a.txt'), 'utf8'), 'alpha')
    takeDataFolder(place, {}).release()
  }
  const stop = new AbortController()
  const never = join(root, 'never')
  await t.rejects(put(target, never, {}, { signal: stop.signal, progress: () => stop.abort() }))
  t.same(readdirSync(root).sort(), ['backup', 'data', 'data.before-1970-01-01T00-00-00-000Z', 'fresh'])
})

verifies('backup:restore-cut-short', 'between its two renames', async (t) => {
  const { root, dir, target, db } = dataIn(t)
  await copy(dir, target)
  db.close()
  const aside = `${dir}.before-2026-01-01T00-00-00-000Z`
  renameSync(dir, aside)
  mkdirSync(`${dir}.restoring`)
  const before = readdirSync(root)
  const remedy = `run causeway restore again; to go back, rename ${aside} to ${dir}; to begin with nothing, move it elsewhere`
  const refused = { code: 'RESTORE_UNFINISHED', data: { left: [aside, `${dir}.restoring`] }, remedy }
  t.throws(() => takeDataFolder(dir, {}), refused)
  t.match(dataCheck(dir), { state: 'fail', fix: remedy })
  t.same(readdirSync(root), before, 'and nothing is made')
  lockFolder(dir).release()
  t.throws(() => takeDataFolder(dir, {}), refused, 'a folder with nothing but a lock is none')

  await put(target, dir)
  takeDataFolder(dir, {}).release()
  t.same(readdirSync(root).sort(), ['backup', 'data', basename(aside)], 'what was there before stays')
})

verifies('backup:all-or-nothing', async (t) => {
  const { root, dir, target, put: write } = dataIn(t, 3000)
  const controller = new AbortController()
  const cancelled = backup(dir, target, parts, {
    signal: controller.signal,
    onProgress: () => controller.abort(),
  })
  await t.rejects(cancelled, { code: 'CANCELLED' })
  t.same(readdirSync(root), ['data'])
  await t.rejects(copy(dir, join(dir, 'texts/backup')), { code: 'INVALID_ARGUMENTS' }, 'among the data')
  await t.rejects(copy(join(root, 'none'), target), { code: 'FILE_NOT_FOUND' })
  write.run('', 'still open')
  await copy(dir, target)
  await t.rejects(copy(dir, target), { code: 'DATA_EXISTS' }, 'a backup is never overwritten')
  writeFileSync(join(dir, 'runs/broken.db'), 'no database at all'.repeat(100))
  await t.rejects(copy(dir, join(root, 'second')), {
    code: 'DATA_DAMAGED',
    data: { file: 'broken.db' },
  })
  t.same(readdirSync(root).sort(), ['backup', 'data'])
})

verifies('backup:whole', 'a file that ends in .initialized and marks no database is copied', async (t) => {
  const { dir, target } = dataIn(t)
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
  const { root, dir, target, db } = dataIn(t)
  db.close()
  await copy(dir, target)
  const good = filesOf(target).map((path) => readFileSync(join(target, path)))
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
  t.same(readdirSync(root).sort(), ['backup', 'data'], 'no other backup exists')
  t.same(
    filesOf(target).map((path) => readFileSync(join(target, path))),
    good,
    'the earlier backup is unchanged',
  )
})

verifies('backup:names-hold', async (t) => {
  const { dir, target, db, put: note } = dataIn(t, 0)
  db.exec('DELETE FROM note')
  // An app at work: each text is written before a note names it, and goes only after no note names it.
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
    const named = rowsOf(join(to, 'data/notes.db')).note?.map((row) => JSON.parse(row)[0]) ?? []
    t.equal(named.length, 5)
    t.same(
      named.filter((name) => !existsSync(join(to, 'data/texts', name))),
      [],
      'what is named is there',
    )
  }
  await t.rejects(copy(dir, target, {}, { progress: work }), { code: 'BACKUP_UNSETTLED' })
})
