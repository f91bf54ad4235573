import {
  chmodSync,
  copyFileSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { createFolder } from '@causeway/protocol'
import { ServerError } from '../errors.ts'

export function readIfExists(path: string, encoding: BufferEncoding = 'utf8'): string | undefined {
  try {
    return readFileSync(path, encoding)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

interface Replacement {
  readonly text: string
  readonly before: string | undefined
  readonly mode?: number
  readonly encoding?: BufferEncoding
}

/**
 * Replaces a file atomically, follows links and preserves the mode. Returns the path of its backup. Throws
 * `CLIENT_FILE_REFUSED` if the content is no longer `before`.
 */
export function replaceFile(
  path: string,
  { text, before, mode = 0o644, encoding = 'utf8' }: Replacement,
): string | undefined {
  createFolder(dirname(path))
  const file = before === undefined ? path : realpathSync(path)
  const fileMode = before === undefined ? mode : statSync(file).mode & 0o777
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const backup = before === undefined ? undefined : `${file}.${time}.bak`
  const temporary = `${file}.${process.pid}.new`
  try {
    writeFileSync(temporary, text, { mode: fileMode, flush: true, encoding })
    // Sets the bits that the umask has removed.
    chmodSync(temporary, fileMode)
    if (readIfExists(path, encoding) !== before)
      throw new ServerError('CLIENT_FILE_REFUSED', `another program has just changed ${path}`, {
        data: { path },
        remedy: 'run the command again',
      })
    if (backup !== undefined) copyFileSync(file, backup)
    renameSync(temporary, file)
    return backup
  } finally {
    rmSync(temporary, { force: true })
  }
}
