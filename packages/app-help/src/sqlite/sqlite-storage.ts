/**
 * The documentation in SQLite. `help.db` names the index that answers; each index is a file of its own, written beside
 * the others, complete before it is named, and never changed afterwards. So a crash in a build changes nothing.
 */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { vectorBytes, vectorOf } from '@causeway/embed'
import { CausewayError } from '@causeway/protocol'
import { dataFailure, failureKind, type Migration, openDatabase } from '@causeway/store'
import type { BuildLock, BuildReport, HelpStorage } from '../storage.ts'
import { type IndexFile, readIndex } from './read-index.ts'
import { writeIndex } from './write-index.ts'

/** Schema of `help.db`, in order; a published step is never changed. */
export const helpMigrations: readonly Migration[] = [
  {
    name: 'help',
    up: `
      CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
      CREATE TABLE lease (id INTEGER PRIMARY KEY CHECK (id = 1), holder TEXT NOT NULL, until_ms INTEGER NOT NULL) STRICT;
      CREATE TABLE vector_cache (
        fingerprint TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (fingerprint, text_hash)
      ) STRICT, WITHOUT ROWID;
    `,
  },
]

/** How long a build may say nothing before another one takes over, ms. */
const leaseMs = 60_000

/** Opens the documentation in the data folder; throws as `openDatabase` does. */
export function openSqliteStorage(dir: string, now: () => number = Date.now): HelpStorage {
  const folder = join(dir, 'help')
  const db = openDatabase(join(dir, 'help.db'), { migrations: helpMigrations, now })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const value = db.prepare<[string], string>('SELECT value FROM state WHERE key = ?').pluck()
  const setValue = db.prepare('INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)')
  const current = (): number => Number(value.get('revision') ?? 0)
  const fileOf = (revision: number): string => join(folder, `index-${revision}.db`)

  /** Between reading the number and opening its file two builds may have passed: then the number is read again. */
  const openCurrent = (tries = 3): IndexFile | undefined => {
    const revision = current()
    if (revision === 0) return undefined
    try {
      return readIndex(fileOf(revision))
    } catch (error) {
      if (tries > 1 && current() !== revision) return openCurrent(tries - 1)
      throw indexFailure(error, fileOf(revision))
    }
  }
  const withCurrent = async <T>(use: (index: IndexFile) => T, otherwise: T): Promise<T> => {
    const index = openCurrent()
    if (index === undefined) return otherwise
    try {
      return use(index)
    } catch (error) {
      throw indexFailure(error, fileOf(index.facts.revision))
    } finally {
      await index.close()
    }
  }
  /** The index before stays for readers that have just read its number; a file that is still open waits for the next build. */
  const removeOthers = (revision: number): void => {
    for (const name of readdirSync(folder)) {
      const number = Number(/^index-(\d+)\.db$/.exec(name)?.[1] ?? Number.NaN)
      if (number >= revision - 1 && number <= revision) continue
      try {
        rmSync(join(folder, name), { force: true })
      } catch (error) {
        if (!['EBUSY', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
      }
    }
  }

  return {
    revision: async () => current(),
    open: async () => openCurrent(),
    known: () => withCurrent((index) => index.known(), []),
    embeddedItems: () => withCurrent((index) => index.embeddedItems(), []),
    async publish(change) {
      const before = current()
      const revision = before + 1
      const part = join(folder, `index-${revision}.db.part`)
      try {
        for (const file of [part, `${part}-journal`]) rmSync(file, { force: true })
        writeIndex(part, before === 0 ? undefined : fileOf(before), change, { revision, now: now() })
        settle(part)
        renameSync(part, fileOf(revision))
      } catch (error) {
        rmSync(part, { force: true })
        throw indexFailure(error, fileOf(revision))
      }
      setValue.run('revision', String(revision))
      removeOthers(revision)
      return revision
    },
    async cachedVectors(fingerprint, hashes) {
      const rows = db
        .prepare<[string, string], { text_hash: string; vector: Buffer }>(
          'SELECT text_hash, vector FROM vector_cache WHERE fingerprint = ? AND text_hash IN (SELECT value FROM json_each(?))',
        )
        .all(fingerprint, JSON.stringify(hashes))
      return new Map(rows.map(({ text_hash, vector }) => [text_hash, vectorOf(vector)]))
    },
    async cacheVectors(fingerprint, rows) {
      const put = db.prepare(
        'INSERT OR REPLACE INTO vector_cache (fingerprint, text_hash, vector) VALUES (?, ?, ?)',
      )
      db.transaction(() => {
        for (const [hash, vector] of rows) put.run(fingerprint, hash, vectorBytes(vector))
      }).immediate()
    },
    lock: async (holder) => sqliteLock(holder, { db, now }),
    async lastReport() {
      const report = value.get('report')
      return report === undefined ? undefined : (JSON.parse(report) as BuildReport)
    },
    saveReport: async (report) => void setValue.run('report', JSON.stringify(report)),
    async close() {
      db.close()
    },
  }
}

/** The error of an index as clients may see it; one that is gone is as harmed as one that cannot be read. */
function indexFailure(error: unknown, file: string): unknown {
  if (existsSync(file) || failureKind(error) !== 'unwritable') return dataFailure(error, file)
  return new CausewayError('DATA_DAMAGED', `the data file is missing: ${basename(file)}`, {
    data: { file: basename(file) },
    cause: error,
  })
}

/** Brings a file that nobody has open to the disk, since SQLite was told not to wait for it. */
function settle(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fchmodSync(descriptor, 0o600)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function sqliteLock(
  holder: string,
  { db, now }: { readonly db: ReturnType<typeof openDatabase>; readonly now: () => number },
): BuildLock {
  const renew = db.prepare(
    'INSERT INTO lease (id, holder, until_ms) VALUES (1, @holder, @until) ON CONFLICT (id) DO UPDATE SET holder = @holder, until_ms = @until WHERE holder = @holder OR until_ms <= @now',
  )
  const take = (): void => {
    const at = now()
    if (renew.run({ holder, until: at + leaseMs, now: at }).changes > 0) return
    throw new CausewayError('HELP_BUILD_RUNNING', 'another build of the documentation is under way')
  }
  take()
  return {
    renew: async () => take(),
    release: async () => void db.prepare('DELETE FROM lease WHERE holder = ?').run(holder),
  }
}
