import { statSync } from 'node:fs'
import { createMissingError } from './marker.ts'

/** Detects a removed database, to which SQLite still writes on Unix. */
export class OpenFile {
  readonly #path: string
  /** Device and inode, once the file exists. */
  #identity: string | undefined

  constructor(path: string) {
    this.#path = path
    this.#identity = readIdentity(path)
  }

  /** Throws `DATA_MISSING` if the opened file was removed or replaced. */
  requireInPlace(): void {
    const identity = readIdentity(this.#path)
    this.#identity ??= identity
    if (identity === this.#identity) return
    throw createMissingError(
      this.#path,
      identity === undefined ? 'was removed while it was in use' : 'was replaced while it was in use',
    )
  }
}

function readIdentity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.dev}:${stat.ino}`
}
