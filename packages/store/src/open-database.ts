import { accessSync, chmodSync, closeSync, constants, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { createFolder } from '@causeway/protocol'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { toDataError } from './data-error.ts'
import { StoreError } from './errors.ts'
import { markInitialized, requireInitialized, requireSameDatabase } from './marker.ts'
import {
  type Migration,
  migrate,
  requireIntactHistory,
  requireIntactPages,
  requireKnownHistory,
} from './migrate.ts'

interface OpenOptions {
  readonly migrations: readonly Migration[]
  /** After a power failure, `normal` (default) may lose the last commits. */
  readonly synchronous?: 'normal' | 'full'
  /** For a new file: a power of two up to 65536. Default: 4096. */
  readonly pageBytes?: number
  /** Unix milliseconds. */
  readonly now?: () => number
}

/**
 * Opens or creates a database with WAL and foreign keys (folder mode 0700, file mode 0600) and applies
 * missing migrations. Throws `DATA_DAMAGED`, `DATA_UNWRITABLE`, `NEWER_DATA`, `DATA_SCHEMA_DIFFERS` and
 * `DATA_MISSING`; the last three leave the file unchanged.
 */
export function openDatabase(file: string, options: OpenOptions): Database {
  const { migrations, synchronous = 'normal', pageBytes, now = Date.now } = options
  try {
    requireInitialized(file)
    createPrivateFile(file)
    // SQLite itself opens a read-only file without an error.
    accessSync(file, constants.W_OK)
    const db = new BetterSqlite3(file)
    try {
      requireIntactHistory(db)
      requireSameDatabase(db)
      requireKnownHistory(db, migrations)
      if (pageBytes !== undefined) db.pragma(`page_size = ${pageBytes}`)
      db.pragma('journal_mode = WAL')
      db.pragma(`synchronous = ${synchronous}`)
      db.pragma('foreign_keys = ON')
      migrate(db, migrations, now)
      markInitialized(db)
      return db
    } catch (error) {
      try {
        // SQL fails with this general error if the schema is damaged.
        if ((error as NodeJS.ErrnoException).code === 'SQLITE_ERROR') requireIntactPages(db)
      } finally {
        db.close()
      }
      throw error
    }
  } catch (error) {
    throw toDataError(error, file)
  }
}

/** Creates a missing file. SQLite copies its mode to `-wal`, `-shm` and `-journal`. */
export function createPrivateFile(file: string): void {
  createDataFolder(dirname(file))
  try {
    closeSync(openSync(file, 'wx', 0o600))
    chmodSync(file, 0o600)
  } catch (error) {
    // An existing file is not opened: closing it would release this process's locks on it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function createDataFolder(folder: string): void {
  try {
    createFolder(folder, 0o700)
  } catch (cause) {
    const { code = '', path = folder } = cause as NodeJS.ErrnoException
    if (!['ENOENT', 'EACCES', 'EPERM', 'EROFS'].includes(code)) throw cause
    throw new StoreError('DATA_UNWRITABLE', `no folder can be created in ${dirname(path)}`, {
      data: { folder },
      remedy: 'choose another folder, or correct the permissions',
      cause,
    })
  }
}
