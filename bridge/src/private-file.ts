import { closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs'

const ownerOnly = 0o600

/**
 * Opens a file of this user alone for appending, and gives its descriptor. Folders for temporary files are writable for
 * everybody, so a link, a file of another user, a pipe or a file with a second name is refused: `Error` that says which.
 */
export function openPrivateFile(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  // Windows has no such flags; there the folder belongs to the user alone.
  const flags = O_WRONLY | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)
  const file = openSync(path, flags, ownerOnly)
  const stat = fstatSync(file)
  const user = process.getuid?.()
  if (!stat.isFile() || stat.nlink !== 1 || (user !== undefined && stat.uid !== user)) {
    closeSync(file)
    throw new Error(`not a file of this user alone: ${path}`)
  }
  if ((stat.mode & 0o777) !== ownerOnly) fchmodSync(file, ownerOnly)
  return file
}
