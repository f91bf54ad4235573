import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { dataFailure } from './failure.ts'
import { markInitialized, requireInitialized, requireSameDatabase } from './marker.ts'
import { type Migration, migrate, refuseOther, requireIntactHistory, requireIntactPages } from './migrate.ts'

/** How a data file is opened. */
export interface OpenOptions {
  /** every migration of the schema, in order */
  readonly migrations: readonly Migration[]
  /** `full` survives a power cut at each commit, `normal` may lose the last commits; default `normal` */
  readonly synchronous?: 'normal' | 'full'
  /** bytes of a page in a file that is created, a power of two to 65536; default SQLite's own, 4096 */
  readonly pageBytes?: number
  /** how long a statement waits for another process, ms; default 5000 */
  readonly busyTimeoutMs?: number
  /** clock of the migration record, epoch ms */
  readonly now?: () => number
}

/**
 * Opens a data file of our own, creates it on the first start, and migrates it to the newest schema: WAL, foreign keys on,
 * folder 0700 and file 0600.
 *
 * Throws `NEWER_DATA`, `DATA_SCHEMA_DIFFERS` and `DATA_MISSING` (the file stays as it is), `DATA_DAMAGED`, `DATA_UNWRITABLE`.
 */
export function openDatabase(file: string, options: OpenOptions): Database {
  const { migrations, synchronous = 'normal', busyTimeoutMs = 5000, pageBytes, now = Date.now } = options
  try {
    requireInitialized(file)
    createPrivately(file)
    // SQLite opens a file that may not be written all the same: it is told now, and not at the first change.
    accessSync(file, constants.W_OK)
    const db = new BetterSqlite3(file, { timeout: busyTimeoutMs })
    try {
      requireIntactHistory(db)
      requireSameDatabase(db)
      refuseOther(db, migrations)
      // Of no effect once the file has a page.
      if (pageBytes !== undefined) db.pragma(`page_size = ${pageBytes}`)
      db.pragma('journal_mode = WAL')
      db.pragma(`synchronous = ${synchronous}`)
      db.pragma('foreign_keys = ON')
      migrate(db, migrations, now)
      markInitialized(db)
      return db
    } catch (error) {
      try {
        // A migration fails on a damaged schema with an error that does not mention damage.
        if ((error as NodeJS.ErrnoException).code === 'SQLITE_ERROR') requireIntactPages(db)
      } finally {
        db.close()
      }
      throw error
    }
  } catch (error) {
    throw dataFailure(error, file)
  }
}

/** Creates folder and file with private modes before SQLite does, which copies the mode of the file to -wal, -shm and -journal. */
export function createPrivately(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    closeSync(openSync(file, 'wx', 0o600))
    chmodSync(file, 0o600)
  } catch (error) {
    // An existing file is never opened here: closing it would drop the locks of a connection that has it open.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
