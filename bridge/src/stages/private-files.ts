import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
} from 'node:fs'
import { CausewayError, createFolder } from '@causeway/protocol'

const ownerOnly = 0o600

/** Opens a file for appending, with mode 0600. Throws for symbolic links, hard links, pipes and other users' files. */
export function openPrivateFile(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const flags = O_WRONLY | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)
  const file = openSync(path, flags, ownerOnly)
  const stat = fstatSync(file)
  if (!isPrivateFile(stat)) {
    closeSync(file)
    throw new Error(`not a private file of this user: ${path}`)
  }
  if ((stat.mode & 0o777) !== ownerOnly) fchmodSync(file, ownerOnly)
  return file
}

export const isPrivateFile = (stat: Stats): boolean => stat.isFile() && stat.nlink === 1 && isOwn(stat)

/** Creates a folder with mode 0700. Throws for a link and for another user's folder. */
export function makePrivateFolder(path: string): void {
  createFolder(path, 0o700)
  const stat = lstatSync(path)
  if (!stat.isDirectory() || !isOwn(stat)) throw new Error(`not a folder of this user: ${path}`)
  if (process.getuid !== undefined && (stat.mode & 0o077) !== 0) chmodSync(path, 0o700)
}

function isOwn({ uid }: Stats): boolean {
  const user = process.getuid?.()
  return user === undefined || uid === user
}

/** Throws `INVALID_SETTING`. */
export function readFlagFile(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CausewayError('INVALID_SETTING', `cannot read the file of ${flag}: ${path}`, {
      data: { path },
      cause,
    })
  }
}
