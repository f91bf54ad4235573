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
  readonly previousText: string | undefined
  readonly mode?: number
  readonly encoding?: BufferEncoding
}

/**
 * Replaces a file atomically, follows links and preserves the mode. Returns the path of its backup. Throws
 * `CLIENT_FILE_REFUSED` if the content is no longer `previousText`.
 */
export function replaceFile(
  path: string,
  { text, previousText, mode = 0o644, encoding = 'utf8' }: Replacement,
): string | undefined {
  createFolder(dirname(path))
  const file = previousText === undefined ? path : realpathSync(path)
  const fileMode = previousText === undefined ? mode : statSync(file).mode & 0o777
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const backup = previousText === undefined ? undefined : `${file}.${time}.bak`
  const temporaryPath = `${file}.${process.pid}.new`
  try {
    writeFileSync(temporaryPath, text, { mode: fileMode, flush: true, encoding })
    // Sets the bits that the umask has removed.
    chmodSync(temporaryPath, fileMode)
    if (readIfExists(path, encoding) !== previousText)
      throw new ServerError('CLIENT_FILE_REFUSED', `another program has just changed ${path}`, {
        data: { path },
        remedy: 'run the command again',
      })
    if (backup !== undefined) copyFileSync(file, backup)
    renameSync(temporaryPath, file)
    return backup
  } finally {
    rmSync(temporaryPath, { force: true })
  }
}
