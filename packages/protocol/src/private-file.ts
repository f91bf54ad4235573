import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Replaces a file, or the target of a symbolic link, atomically. Only the owner can read it. */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const target = resolveLink(path)
  const temporary = `${target}.${randomBytes(6).toString('hex')}.new`
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx', flush: true })
    // The umask may have removed the owner's permissions.
    chmodSync(temporary, 0o600)
    renameSync(temporary, target)
  } finally {
    rmSync(temporary, { force: true })
  }
}

function resolveLink(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return path
    throw error
  }
}
