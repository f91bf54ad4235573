import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { toDataError } from './data-error.ts'
import { StoreError } from './errors.ts'
import { requireInitialized, requireSameDatabase } from './marker.ts'
import { listMigrations, requireIntactHistory } from './migrate.ts'
import { createPrivateFile } from './open-database.ts'

interface BackupOptions {
  readonly signal?: AbortSignal
  /** SQL to run on the copy. Data that the SQL deletes leaves no trace in the file. */
  readonly sql?: string | undefined
}

const pagesPerStep = 256

/**
 * Replaces `to` with a checked copy of the database in its state at the start, without WAL. Other connections can
 * write meanwhile. Throws `FILE_NOT_FOUND`, `DATA_MISSING`, `DATA_DAMAGED`, `DATA_UNWRITABLE`, `CANCELLED`.
 */
export async function backupFile(file: string, to: string, options: BackupOptions = {}): Promise<void> {
  requireInitialized(file)
  if (!existsSync(file))
    throw new CausewayError('FILE_NOT_FOUND', `there is no data file ${file}`, { data: { file } })
  try {
    const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    try {
      requireIntactHistory(db)
      requireSameDatabase(db)
      // Without a read transaction, each write restarts the copy.
      db.exec('BEGIN')
      db.prepare('SELECT 1 FROM sqlite_schema').get()
      await copyDatabase(db, to, options)
    } finally {
      db.close()
    }
  } catch (error) {
    throw toDataError(error, file)
  }
}

async function copyDatabase(db: Database, to: string, { signal, sql }: BackupOptions): Promise<void> {
  const temporaryFile = `${to}.part`
  try {
    await rm(temporaryFile, { force: true })
    createPrivateFile(temporaryFile)
    await db.backup(temporaryFile, {
      progress: () => {
        if (signal?.aborted) throw new CausewayError('CANCELLED', 'the backup was cancelled')
        return pagesPerStep
      },
    })
    sealCopy(temporaryFile, db.name, sql)
    await rename(temporaryFile, to)
  } catch (error) {
    await rm(temporaryFile, { force: true }).catch(() => undefined)
    throw toDataError(error, to)
  }
}

/** Takes the copy out of WAL mode, in which readers need a writable folder, and checks it. */
function sealCopy(copy: string, source: string, sql?: string): void {
  const db = new BetterSqlite3(copy)
  try {
    db.pragma('journal_mode = DELETE')
    const problem = db.pragma('quick_check(1)', { simple: true })
    const file = basename(source)
    if (problem !== 'ok')
      throw new StoreError('DATA_DAMAGED', `the data file is damaged: ${file}`, {
        data: { file, problem },
      })
    if (sql === undefined) return
    db.exec(sql)
    // Deleted data remains in free space until the file is rewritten.
    db.exec('VACUUM')
  } finally {
    db.close()
  }
}

/** Returns the names of the applied migrations. Throws `DATA_DAMAGED`. */
export function readMigrations(file: string): readonly string[] {
  return withDatabase(file, { readonly: true }, listMigrations)
}

/** Runs SQL in one transaction. Throws `DATA_DAMAGED`, `DATA_UNWRITABLE`. */
export function updateFile(
  file: string,
  statements: readonly { sql: string; values?: readonly unknown[] }[],
): void {
  withDatabase(file, {}, (db) => {
    const run = db.transaction(() => {
      for (const { sql, values } of statements)
        if (values === undefined) db.exec(sql)
        else db.prepare(sql).run(...values)
    })
    run()
  })
}

function withDatabase<Result>(
  file: string,
  options: BetterSqlite3.Options,
  work: (db: Database) => Result,
): Result {
  try {
    const db = new BetterSqlite3(file, { ...options, fileMustExist: true })
    try {
      return work(db)
    } finally {
      db.close()
    }
  } catch (error) {
    throw toDataError(error, file)
  }
}
