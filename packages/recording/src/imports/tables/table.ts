import type { Call } from '@causeway/worker'
import type { NamedColumn } from '../../domain/imports/column-names.ts'
import type { OrderHint } from '../../domain/imports/propose-mapping.ts'
import { RecordingError } from '../../errors.ts'

/** 64-bit integers, which are exact only as bigints. */
type Integers = BigInt64Array | BigUint64Array

export const isIntegers = (values: unknown): values is Integers =>
  values instanceof BigInt64Array || values instanceof BigUint64Array

/** Returns `undefined` if an integer has more than 64 bits. */
export function toIntegers(values: readonly bigint[]): Integers | undefined {
  if (values.every((value) => BigInt.asIntN(64, value) === value)) return BigInt64Array.from(values)
  return values.every((value) => BigInt.asUintN(64, value) === value)
    ? BigUint64Array.from(values)
    : undefined
}

/** Numbers (row-major), 64-bit integers, or strings. */
export type Values = Float64Array | Integers | readonly string[]

export interface Batch {
  readonly count: number
  readonly columns: ReadonlyMap<string, Values>
  /** Fraction of the file that was read so far. */
  readonly done: number
}

export interface Table {
  readonly format: string
  readonly columns: readonly NamedColumn[]
  /** Default: all columns. */
  readonly proposedColumns?: readonly NamedColumn[]
  /** Undefined if the file does not contain it. */
  readonly rowCount: number | undefined
  readonly orderHint?: OrderHint | null
  readonly notes?: readonly string[]
  /**
   * Yields the rows of these columns in order; may end after `maxRows`. Throws `INVALID_MAPPING` if the columns have
   * different numbers of rows.
   */
  read(names: readonly string[], call: Call, maxRows?: number): AsyncIterable<Batch>
  close(): Promise<void>
}

export const batchRows = 4096

const maxBatchBytes = 64 * 1024 ** 2

/** Returns the number of rows per batch. `widths` are the columns' numbers of values per row. */
export function countBatchRows(widths: readonly number[], path: string): number {
  const rowBytes = 8 * widths.reduce((sum, width) => sum + width, 0)
  if (rowBytes > maxBatchBytes) throw createLimitError(`a row has ${rowBytes} bytes`, maxBatchBytes, path)
  return Math.max(1, Math.min(batchRows, Math.floor(maxBatchBytes / Math.max(1, rowBytes))))
}

export const createDamageError = (message: string, path: string, cause?: unknown) =>
  new RecordingError('RECORDING_DAMAGED', `${message}: ${path}`, {
    remedy: 'write the file again with the program that made it',
    data: { path },
    ...(cause === undefined ? {} : { cause }),
  })

export const createLimitError = (what: string, limit: number, path: string) =>
  new RecordingError('IMPORT_LIMIT', `${what}, more than ${limit}: ${path}`, { data: { path, limit } })

/** Any file may expand to this size, regardless of the ratio. */
const maxFreeBytes = 256 * 1024 ** 2

export function checkExpansion(
  what: string,
  {
    claimedBytes,
    storedBytes,
    ratio,
  }: { readonly claimedBytes: number; readonly storedBytes: number; readonly ratio: number },
  path: string,
): void {
  const limit = Math.max(maxFreeBytes, ratio * storedBytes)
  if (!(claimedBytes <= limit))
    throw createLimitError(`${what} expands ${storedBytes} bytes to ${claimedBytes}`, limit, path)
}
