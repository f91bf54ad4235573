import { basename } from 'node:path'
import type { CausewayError } from '@causeway/protocol'
import { StoreError } from './errors.ts'

type FailureKind = 'not-a-database' | 'damaged' | 'unwritable' | 'busy'

const unwritable =
  /^(SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM)|ENOSPC|EDQUOT|EFBIG|EIO|EACCES|EPERM|EROFS|EEXIST|ENOTDIR|EISDIR)/

export function classifyFailure(error: unknown): FailureKind | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'SQLITE_NOTADB') return 'not-a-database'
  if (code.startsWith('SQLITE_CORRUPT')) return 'damaged'
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'busy'
  return unwritable.test(code) ? 'unwritable' : undefined
}

/** Converts failures to `DATA_DAMAGED` or `DATA_UNWRITABLE`; returns other errors unchanged. */
export function toDataError(error: unknown, path: string): unknown {
  const kind = classifyFailure(error)
  const cause = new Error(path, { cause: error })
  if (kind === 'not-a-database' || kind === 'damaged') return damagedError(path, cause)
  if (kind !== 'unwritable') return error
  const file = basename(path)
  return new StoreError('DATA_UNWRITABLE', `the data file cannot be written: ${file}`, {
    data: { file },
    cause,
  })
}

export function damagedError(path: string, cause: Error): CausewayError {
  const file = basename(path)
  return new StoreError('DATA_DAMAGED', `the data file is damaged: ${file}`, { data: { file }, cause })
}
