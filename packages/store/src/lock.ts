import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import BetterSqlite3 from 'better-sqlite3'
import { dataFailure, failureKind } from './failure.ts'
import { createPrivately } from './open.ts'

/** A folder that belongs to this process until it lets go or ends, however it ends. */
export interface FolderLock {
  /** False once it was let go. */
  readonly isHeld: boolean
  /** Lets go, once; `folder` is the name that the folder has by now, where it was renamed. */
  release(folder?: string): void
}

/** Names in the folder: what is locked, and who says to hold it. */
export const lockFiles = { lock: 'server.lock', holder: 'server.json' } as const

/**
 * Takes a data folder for this process; `about` is told to whoever finds it taken. The lock is one of the system's, by way
 * of SQLite: it ends with the process, so there is none that a crash left behind.
 *
 * Throws `DATA_IN_USE`, `DATA_UNWRITABLE`.
 */
export function lockFolder(dir: string, about: Readonly<Record<string, unknown>> = {}): FolderLock {
  const file = join(dir, lockFiles.lock)
  const holder = join(dir, lockFiles.holder)
  try {
    createPrivately(file)
    // One of an older version; SQLite gives its mode to the journal.
    chmodSync(file, 0o600)
    const db = new BetterSqlite3(file, { timeout: 0 })
    try {
      db.exec('BEGIN EXCLUSIVE')
      writeFileSync(holder, `${JSON.stringify({ pid: process.pid, ...about })}\n`, { mode: 0o600 })
    } catch (error) {
      db.close()
      throw error
    }
    return {
      get isHeld() {
        return db.open
      },
      release(folder = dir) {
        if (!db.open) return
        rmSync(join(folder, lockFiles.holder), { force: true })
        // SQLite looks for its journal where the folder was.
        if (folder !== dir) rmSync(`${join(folder, lockFiles.lock)}-journal`, { force: true })
        db.close()
      },
    }
  } catch (error) {
    if (failureKind(error) !== 'busy') throw dataFailure(error, file)
    const pid = holderOf(holder)
    throw new CausewayError(
      'DATA_IN_USE',
      `the data folder is used by another server${pid === undefined ? '' : ` (pid ${pid})`}: ${dir}`,
      { data: { dir, pid: pid ?? null } },
    )
  }
}

/** The process that says to hold the folder. */
function holderOf(file: string): number | undefined {
  try {
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid?: unknown }
    return typeof pid === 'number' ? pid : undefined
  } catch {
    // Just taken, or just given back: the lock counts, not what is said of it.
    return undefined
  }
}
