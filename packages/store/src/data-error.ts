import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { basename } from 'node:path'
import { type CausewayError, toFileLimitError } from '@causeway/protocol'
import { StoreError } from './errors.ts'

type FailureKind = 'not-a-database' | 'damaged' | 'unwritable' | 'busy'

const unwritableCode =
  /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM)|ENOSPC|EDQUOT|EFBIG|EIO|EACCES|EPERM|EROFS|EEXIST|ENOTDIR|EISDIR)/

export function classifyFailure(error: unknown): FailureKind | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'SQLITE_NOTADB') return 'not-a-database'
  if (code.startsWith('SQLITE_CORRUPT')) return 'damaged'
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'busy'
  return unwritableCode.test(code) ? 'unwritable' : undefined
}

/** Number of files that SQLite opens for a database: the file, its log, the log's index and the folder. */
const filesPerDatabase = 4

/** Returns `OVERLOADED` if too many files are open, which the error of SQLite does not show. */
export function findFileLimit(error: unknown): CausewayError | undefined {
  const { code } = error as { readonly code?: unknown }
  if (!String(code).startsWith('SQLITE_CANTOPEN')) return undefined
  const descriptors: number[] = []
  try {
    while (descriptors.length < filesPerDatabase) descriptors.push(openSync(devNull, 'r'))
    return undefined
  } catch (cause) {
    return toFileLimitError(cause)
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

/** Converts failures to `DATA_DAMAGED`, `DATA_UNWRITABLE` or `OVERLOADED`. Returns other errors unchanged. */
export function toDataError(error: unknown, path: string): unknown {
  const kind = classifyFailure(error)
  const cause = new Error(path, { cause: error })
  if (kind === 'not-a-database' || kind === 'damaged') return createDamagedError(path, cause)
  if (kind !== 'unwritable') return error
  const fileLimit = findFileLimit(error)
  if (fileLimit !== undefined) return fileLimit
  const file = basename(path)
  return new StoreError('DATA_UNWRITABLE', `the data file cannot be written: ${file}`, {
    data: { file },
    cause,
  })
}

export function createDamagedError(path: string, cause: Error): CausewayError {
  const file = basename(path)
  return new StoreError('DATA_DAMAGED', `the data file is damaged: ${file}`, { data: { file }, cause })
}
