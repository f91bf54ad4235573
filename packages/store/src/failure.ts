import { basename } from 'node:path'
import { CausewayError } from '@causeway/protocol'

/** What an SQLite error means for the file it happened on. */
export type FailureKind = 'not-a-database' | 'damaged' | 'unwritable' | 'busy'

/** The kind of an error of better-sqlite3 or of the file system, or undefined for any other error. */
export function failureKind(error: unknown): FailureKind | undefined {
  const code = errorCode(error)
  if (code === 'SQLITE_NOTADB') return 'not-a-database'
  if (code.startsWith('SQLITE_CORRUPT')) return 'damaged'
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'busy'
  return unwritable.some((prefix) => code.startsWith(prefix)) ? 'unwritable' : undefined
}

/** Codes of a disk that is full, or of a file or folder that may not be written. */
const unwritable = [
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY',
  'SQLITE_PERM',
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'EACCES',
  'EPERM',
  'EROFS',
  'EEXIST',
  'ENOTDIR',
  'EISDIR',
]

function errorCode(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}

/**
 * The error of a data file of our own as clients may see it: `DATA_DAMAGED` or `DATA_UNWRITABLE`; any other error is
 * given back as it is. Clients hear the name of the file, the log its path.
 */
export function dataFailure(error: unknown, path: string): unknown {
  const file = basename(path)
  const cause = new Error(path, { cause: error })
  switch (failureKind(error)) {
    case 'not-a-database':
    case 'damaged':
      return new CausewayError('DATA_DAMAGED', `the data file is damaged: ${file}`, {
        data: { file },
        cause,
      })
    case 'unwritable':
      return new CausewayError('DATA_UNWRITABLE', `the data file cannot be written: ${file}`, {
        data: { file },
        cause,
      })
    default:
      return error
  }
}
