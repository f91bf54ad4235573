import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CausewayError } from '@causeway/protocol'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { classifyFailure, toDataError } from './data-error.ts'
import { StoreError } from './errors.ts'
import { createPrivateFile } from './open-database.ts'

export const lockFiles = { lock: 'server.lock', holder: 'server.json' } as const

/** A lock on a data folder. The operating system releases it when the process ends. */
export class FolderLock {
  readonly #dir: string
  readonly #db: Database

  /** Writes the pid and `holder` to `server.json`. Throws `DATA_IN_USE`, `DATA_UNWRITABLE`. */
  constructor(dir: string, holder: Readonly<Record<string, unknown>> = {}) {
    this.#dir = dir
    const file = join(dir, lockFiles.lock)
    try {
      createPrivateFile(file)
      // Older versions used another mode.
      chmodSync(file, 0o600)
      this.#db = new BetterSqlite3(file, { timeout: 0 })
      try {
        this.#db.exec('BEGIN EXCLUSIVE')
        const text = `${JSON.stringify({ pid: process.pid, ...holder })}\n`
        writeFileSync(join(dir, lockFiles.holder), text, { mode: 0o600 })
      } catch (error) {
        this.#db.close()
        throw error
      }
    } catch (error) {
      throw classifyFailure(error) === 'busy' ? createInUseError(dir) : toDataError(error, file)
    }
  }

  get isHeld(): boolean {
    return this.#db.open
  }

  /** `folder`: the current path if the folder was renamed. */
  release(folder = this.#dir): void {
    if (!this.isHeld) return
    rmSync(join(folder, lockFiles.holder), { force: true })
    // SQLite would remove the journal only at the original path.
    if (folder !== this.#dir) rmSync(`${join(folder, lockFiles.lock)}-journal`, { force: true })
    this.#db.close()
  }
}

function createInUseError(dir: string): CausewayError {
  const pid = readHolderPid(join(dir, lockFiles.holder))
  const holder = pid === null ? '' : ` (pid ${pid})`
  return new StoreError('DATA_IN_USE', `the data folder is used by another server${holder}: ${dir}`, {
    data: { dir, pid },
  })
}

function readHolderPid(file: string): number | null {
  try {
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid?: unknown }
    return typeof pid === 'number' ? pid : null
  } catch {
    // The file may be incomplete or removed.
    return null
  }
}
