import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Replaces a file, or the target of a symbolic link, atomically. Only the owner can read it. */
export function writePrivateFile(path: string, text: string): void {
  createFolder(dirname(path), 0o700)
  const target = resolveLink(path)
  const temporaryFile = `${target}.${randomBytes(6).toString('hex')}.new`
  try {
    writeFileSync(temporaryFile, text, { mode: 0o600, flag: 'wx', flush: true })
    // The umask may have removed the owner's permissions.
    chmodSync(temporaryFile, 0o600)
    renameSync(temporaryFile, target)
  } finally {
    rmSync(temporaryFile, { force: true })
  }
}

/** Creates a folder and missing parents. Returns the topmost new folder. Node's `recursive` never returns for a path in `/proc`. */
export function createFolder(path: string, mode = 0o777): string | undefined {
  try {
    mkdirSync(path, { mode })
    return path
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(parent)) throw error
    const createdFolder = createFolder(parent, mode)
    createFolder(path, mode)
    return createdFolder ?? path
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
