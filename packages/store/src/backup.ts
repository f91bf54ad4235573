import { existsSync } from 'node:fs'
import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { dataFailure } from './failure.ts'
import { type Migration, refuseNewer } from './migrate.ts'

/** What a long copy reports and by what it is stopped. */
export interface CopyOptions {
  readonly signal?: AbortSignal
  /** done and total, in pages */
  readonly progress?: (done: number, total: number) => void
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
    seal(part)
    verify(part, [])
    await rename(part, to)
  } catch (error) {
    await rm(part, { force: true })
    throw dataFailure(error, to)
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
    for (const sidecar of ['-wal', '-shm', '-journal']) await rm(`${file}${sidecar}`, { force: true })
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

/** Leaves WAL mode, so that the backup is one file that can be read from a place that cannot be written. */
function seal(file: string): void {
  const db = new BetterSqlite3(file)
  try {
    db.pragma('journal_mode = DELETE')
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
      if (migrations.length > 0) refuseNewer(db, migrations)
    } finally {
      db.close()
    }
  } catch (error) {
    throw dataFailure(error, file)
  }
}
