import { existsSync } from 'node:fs'
import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { dataFailure } from './failure.ts'
import { requireInitialized, requireSameDatabase, sidecars } from './marker.ts'
import { appliedMigrations, type Migration, refuseOther, requireIntactHistory } from './migrate.ts'

/** What a long copy reports and by what it is stopped. */
export interface CopyOptions {
  readonly signal?: AbortSignal
  /** done and total, in pages */
  readonly progress?: (done: number, total: number) => void
  /** SQL that is run in the copy before it is put in place; nothing of what it deletes stays in the file */
  readonly change?: string | undefined
}

/** Pages copied between two turns of the event loop. */
const pagesPerStep = 256

/**
 * Copies an open database into a new file while it is being used, checks the copy and puts it in place at once.
 *
 * An existing file at `to` is replaced. Throws `DATA_UNWRITABLE`, `DATA_DAMAGED`, `CANCELLED`; `to` is then as before.
 */
export async function backup(db: Database, to: string, options: CopyOptions = {}): Promise<void> {
  const part = `${to}.part`
  await makePlace(part)
  try {
    await db.backup(part, {
      progress: ({ totalPages, remainingPages }) => {
        if (options.signal?.aborted) throw new CausewayError('CANCELLED', 'the backup was cancelled')
        options.progress?.(totalPages - remainingPages, totalPages)
        return pagesPerStep
      },
    })
    await chmod(part, 0o600)
    seal(part, db.name, options.change)
    await rename(part, to)
  } catch (error) {
    await rm(part, { force: true })
    throw dataFailure(error, to)
  }
}

/**
 * Copies a data file by its name, as it is at this moment, while other connections write it: what is written during the
 * copy is not in it and does not restart it. Throws as `backup` does, and `FILE_NOT_FOUND`; `DATA_MISSING` if the file was
 * initialized before and is now empty or another one, so that an empty copy never passes for a backup.
 */
export async function backupFile(file: string, to: string, options: CopyOptions = {}): Promise<void> {
  requireInitialized(file)
  if (!existsSync(file))
    throw new CausewayError('FILE_NOT_FOUND', `there is no data file ${file}`, { data: { file } })
  try {
    const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    try {
      requireIntactHistory(db)
      requireSameDatabase(db)
      // A read transaction holds the state that it began with for as long as it is open.
      db.exec('BEGIN')
      db.prepare('SELECT 1 FROM sqlite_schema').get()
      await backup(db, to, options)
    } finally {
      db.close()
    }
  } catch (error) {
    throw dataFailure(error, file)
  }
}

/** Names of the migrations of a closed data file, in order; none where it is no file of ours. Throws `DATA_DAMAGED`. */
export function schemaOf(file: string): readonly string[] {
  try {
    const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    try {
      return appliedMigrations(db)
    } finally {
      db.close()
    }
  } catch (error) {
    throw dataFailure(error, file)
  }
}

/** Runs SQL in a closed data file, all of it or nothing; throws `DATA_DAMAGED`, `DATA_UNWRITABLE`. */
export function changeFile(
  file: string,
  statements: readonly { sql: string; values?: readonly unknown[] }[],
): void {
  try {
    const db = new BetterSqlite3(file, { fileMustExist: true })
    try {
      db.transaction(() => {
        for (const { sql, values } of statements)
          if (values === undefined) db.exec(sql)
          else db.prepare(sql).run(...values)
      })()
    } finally {
      db.close()
    }
  } catch (error) {
    throw dataFailure(error, file)
  }
}

/**
 * Puts a backup in the place of a data file that is closed. The backup is checked first and copied through SQLite, so
 * neither a damaged nor a newer one ever replaces data.
 *
 * Throws `FILE_NOT_FOUND`, `DATA_DAMAGED`, `NEWER_DATA`, `DATA_UNWRITABLE`, `CANCELLED`.
 */
export async function restore(
  from: string,
  file: string,
  { migrations, ...options }: CopyOptions & { readonly migrations: readonly Migration[] },
): Promise<void> {
  if (!existsSync(from)) {
    throw new CausewayError('FILE_NOT_FOUND', `there is no backup ${from}`, { data: { file: from } })
  }
  verify(from, migrations)
  const source = new BetterSqlite3(from, { readonly: true, fileMustExist: true })
  try {
    await backup(source, file, options)
    // Leftovers of the replaced file: SQLite would apply an old log to the new file.
    for (const sidecar of sidecars) await rm(`${file}${sidecar}`, { force: true })
  } finally {
    source.close()
  }
}

/** Makes the folder and removes what an earlier attempt left. */
async function makePlace(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await rm(file, { force: true })
  } catch (error) {
    throw dataFailure(error, file)
  }
}

/**
 * Leaves WAL mode, so that the backup is one file that can be read from a place that cannot be written. Throws
 * `DATA_DAMAGED` if the copy, and so the file `source`, is damaged.
 */
function seal(file: string, source: string, change?: string): void {
  const db = new BetterSqlite3(file)
  try {
    db.pragma('journal_mode = DELETE')
    const problem = db.pragma('quick_check(1)', { simple: true })
    if (problem !== 'ok')
      throw new CausewayError('DATA_DAMAGED', `the data file is damaged: ${basename(source)}`, {
        data: { file: basename(source), problem },
      })
    if (change === undefined) return
    db.exec(change)
    // What is deleted stays in the free space of its page, and in older copies of it, until the file is written anew.
    db.exec('VACUUM')
  } finally {
    db.close()
  }
}

function verify(file: string, migrations: readonly Migration[]): void {
  try {
    const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    try {
      const problem = db.pragma('quick_check(1)', { simple: true })
      if (problem !== 'ok')
        throw new CausewayError('DATA_DAMAGED', `the backup is damaged: ${file}`, { data: { file, problem } })
      refuseOther(db, migrations)
    } finally {
      db.close()
    }
  } catch (error) {
    throw dataFailure(error, file)
  }
}
