import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { decodeVector, encodeVector } from '@causeway/embed'
import {
  classifyFailure,
  createPrivateFile,
  type Migration,
  openDatabase,
  StoreError,
  toDataError,
} from '@causeway/store'
import { HelpError } from '../../errors.ts'
import { isDead } from '../lock-holder.ts'
import type { BuildLock, BuildReport, Edition, HelpStorage, IndexChange } from '../types.ts'
import { type IndexFile, readIndex } from './read-index.ts'
import { writeIndex } from './write-index.ts'

/** Schema of `help.db`. Published migrations never change. */
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

const leaseMs = 60_000

/** Throws the errors of `openDatabase`. */
export const openSqliteStorage = (
  dir: string,
  now: () => number = Date.now,
  edition: Edition = 'public',
): SqliteStorage => new SqliteStorage(dir, now, edition)

/**
 * `help.db` contains the revision of the published index. Each index is a separate file that never changes after
 * publication.
 */
class SqliteStorage implements HelpStorage {
  readonly #folder: string
  readonly #db: ReturnType<typeof openDatabase>
  readonly #now: () => number
  readonly #edition: Edition

  constructor(dir: string, now: () => number, edition: Edition) {
    this.#folder = join(dir, 'help')
    this.#db = openDatabase(join(dir, 'help.db'), { migrations: helpMigrations, now })
    this.#now = now
    this.#edition = edition
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  async readRevision(): Promise<number> {
    return this.#readRevision()
  }

  async open(): Promise<IndexFile | undefined> {
    return this.#openCurrent()
  }

  listKnownPages() {
    return this.#withCurrent((index) => index.listKnownPages(), [])
  }

  listEmbeddedItems() {
    return this.#withCurrent((index) => index.listEmbeddedItems(), [])
  }

  async publish(change: IndexChange): Promise<number> {
    const previous = this.#readRevision()
    const revision = previous + 1
    const file = this.#getFile(revision)
    const temporaryFile = `${file}.part`
    try {
      for (const path of [temporaryFile, `${temporaryFile}-journal`]) rmSync(path, { force: true })
      createPrivateFile(temporaryFile)
      const from = previous === 0 ? undefined : this.#getFile(previous)
      writeIndex(temporaryFile, from, change, { revision, now: this.#now(), edition: this.#edition })
      flush(temporaryFile)
      renameSync(temporaryFile, file)
    } catch (error) {
      rmSync(temporaryFile, { force: true })
      throw toIndexError(error, file)
    }
    this.#setValue('revision', String(revision))
    this.#removeOld(revision)
    return revision
  }

  async readCachedVectors(fingerprint: string, hashes: readonly string[]) {
    const rows = this.#db
      .prepare<[string, string], { text_hash: string; vector: Buffer }>(
        'SELECT text_hash, vector FROM vector_cache WHERE fingerprint = ? AND text_hash IN (SELECT value FROM json_each(?))',
      )
      .all(fingerprint, JSON.stringify(hashes))
    return new Map(rows.map(({ text_hash, vector }) => [text_hash, decodeVector(vector)]))
  }

  async cacheVectors(fingerprint: string, rows: ReadonlyMap<string, Float32Array>): Promise<void> {
    const insertVector = this.#db.prepare(
      'INSERT OR REPLACE INTO vector_cache (fingerprint, text_hash, vector) VALUES (?, ?, ?)',
    )
    this.#db
      .transaction(() => {
        for (const [hash, vector] of rows) insertVector.run(fingerprint, hash, encodeVector(vector))
      })
      .immediate()
  }

  async lock(holder: string): Promise<BuildLock> {
    const statement = this.#db.prepare(
      'INSERT INTO lease (id, holder, until_ms) VALUES (1, @holder, @until) ON CONFLICT (id) DO UPDATE SET holder = @holder, until_ms = @until WHERE holder = @holder OR until_ms <= @now',
    )
    const renew = async (): Promise<void> => {
      const now = this.#now()
      if (statement.run({ holder, until: now + leaseMs, now }).changes > 0) return
      if (this.#releaseDeadLock()) return renew()
      throw new HelpError('HELP_BUILD_RUNNING', 'another build of the documentation is running')
    }
    await renew()
    const release = async () => void this.#db.prepare('DELETE FROM lease WHERE holder = ?').run(holder)
    return { renew, release }
  }

  #releaseDeadLock(): boolean {
    const holder = this.#db.prepare<[], string>('SELECT holder FROM lease').pluck().get()
    if (holder === undefined || !isDead(holder)) return false
    return this.#db.prepare('DELETE FROM lease WHERE holder = ?').run(holder).changes > 0
  }

  async readLastReport(): Promise<BuildReport | undefined> {
    const report = this.#getValue('report')
    return report === undefined ? undefined : (JSON.parse(report) as BuildReport)
  }

  async saveReport(report: BuildReport): Promise<void> {
    this.#setValue('report', JSON.stringify(report))
  }

  async close(): Promise<void> {
    this.#db.close()
  }

  deleteIndexes(): void {
    this.#db.prepare('DELETE FROM state WHERE key = ?').run(this.#getKey('revision'))
    this.#removeOld(Number.POSITIVE_INFINITY)
  }

  #getKey(key: string): string {
    return this.#edition === 'public' ? key : `internal_${key}`
  }

  #getValue(key: string): string | undefined {
    const sql = 'SELECT value FROM state WHERE key = ?'
    return this.#db.prepare<[string], string>(sql).pluck().get(this.#getKey(key))
  }

  #setValue(key: string, value: string): void {
    const sql = 'INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)'
    this.#db.prepare(sql).run(this.#getKey(key), value)
  }

  get #prefix(): string {
    return this.#edition === 'public' ? 'index' : 'internal'
  }

  #readRevision(): number {
    return Number(this.#getValue('revision') ?? 0)
  }

  #getFile(revision: number): string {
    return join(this.#folder, `${this.#prefix}-${revision}.db`)
  }

  /** Retries if a build removed the file after its revision was read. */
  #openCurrent(attempts = 3): IndexFile | undefined {
    const revision = this.#readRevision()
    if (revision === 0) return undefined
    try {
      return readIndex(this.#getFile(revision))
    } catch (error) {
      if (attempts > 1 && this.#readRevision() !== revision) return this.#openCurrent(attempts - 1)
      throw toIndexError(error, this.#getFile(revision))
    }
  }

  async #withCurrent<T>(use: (index: IndexFile) => T, fallback: T): Promise<T> {
    const index = this.#openCurrent()
    if (index === undefined) return fallback
    try {
      return use(index)
    } catch (error) {
      throw toIndexError(error, this.#getFile(index.facts.revision))
    } finally {
      await index.close()
    }
  }

  /** The previous index remains for readers that are about to open it. */
  #removeOld(revision: number): void {
    for (const name of readdirSync(this.#folder)) {
      const [, prefix, number] = /^(index|internal)-(\d+)\.db/.exec(name) ?? []
      if (prefix !== undefined && prefix !== this.#prefix) continue
      if (name.endsWith('.db') && Number(number) >= revision - 1 && Number(number) <= revision) continue
      try {
        rmSync(join(this.#folder, name), { force: true })
      } catch (error) {
        if (!['EBUSY', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
      }
    }
  }
}

/** A missing file counts as damaged. */
function toIndexError(error: unknown, file: string): unknown {
  if (existsSync(file) || classifyFailure(error) !== 'unwritable') return toDataError(error, file)
  return new StoreError('DATA_DAMAGED', `the data file is missing: ${basename(file)}`, {
    data: { file: basename(file) },
    cause: error,
  })
}

/** Flushes a file that SQLite wrote with `synchronous = OFF`. */
function flush(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
