import type { Call } from '@causeway/worker'
import type { NamedColumn } from '../../domain/imports/column-names.ts'
import type { OrderHint } from '../../domain/imports/propose-mapping.ts'
import { RecordingError } from '../../errors.ts'

/** Integers of 64 bits that are exact only as bigints, numbers row after row, or texts. */
export type Values = Float64Array | BigInt64Array | readonly string[]

export interface Batch {
  readonly count: number
  readonly columns: ReadonlyMap<string, Values>
  /** Part of the file that is read, 0 to 1. */
  readonly done: number
}

export interface Table {
  readonly format: string
  readonly columns: readonly NamedColumn[]
  /** Default: all columns. */
  readonly proposed?: readonly NamedColumn[]
  /** undefined if the file does not contain it. */
  readonly rowCount: number | undefined
  readonly orderHint?: OrderHint | null
  readonly notes?: readonly string[]
  /** Yields the rows of these columns in order. Throws `INVALID_MAPPING` if they do not have the same rows. */
  read(names: readonly string[], call: Call): AsyncIterable<Batch>
  close(): Promise<void>
}

export const batchRows = 4096

export const createDamage = (message: string, path: string, cause?: unknown) =>
  new RecordingError('RECORDING_DAMAGED', `${message}: ${path}`, {
    remedy: 'write the file again with the program that made it',
    data: { path },
    ...(cause === undefined ? {} : { cause }),
  })

export const createLimit = (what: string, limit: number, path: string) =>
  new RecordingError('IMPORT_LIMIT', `${what}, more than ${limit}: ${path}`, { data: { path, limit } })

/** Files may claim this size regardless of their own size, in bytes. */
const maxFreeBytes = 256 * 1024 ** 2

export function checkExpansion(
  what: string,
  { claimed, stored, ratio }: { readonly claimed: number; readonly stored: number; readonly ratio: number },
  path: string,
): void {
  const limit = Math.max(maxFreeBytes, ratio * stored)
  if (!(claimed <= limit)) throw createLimit(`${what} expands ${stored} bytes to ${claimed}`, limit, path)
}
