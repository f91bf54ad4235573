/** A table of numbers, one row a frame, looked at as columns and as points. */
import type { Columns, Value } from '@causeway/recording'
import ndarray, { type NdArray } from 'ndarray'

/** One field over all rows: a strided view, shape [length]; NaN = absent. */
export function column<Field extends string>(
  { fields, length, data }: Columns<Field>,
  field: Field,
): NdArray<Float64Array> {
  const index = fields.indexOf(field)
  if (index === -1) throw new RangeError(`no such column: ${field}`)
  return ndarray(data, [length, fields.length]).pick(null, index)
}

/** The indexes of the rows from `first` up to, not including, `end`. */
export const rowsFrom = (first: number, end: number): number[] =>
  Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)

/** The indexes of the rows for which the test holds, ascending. */
export function rowsWhere(length: number, test: (row: number) => boolean): number[] {
  const rows: number[] = []
  for (let row = 0; row < length; row++) if (test(row)) rows.push(row)
  return rows
}

/** One row as an object; NaN and the infinities are null, fields named in `flags` are booleans. */
export type Point<Field extends string, Flag extends Field = never> = {
  readonly [Name in Exclude<Field, Flag | 'frame_id'>]: Value
} & { readonly [Name in Flag]: boolean } & { readonly [Name in Extract<Field, 'frame_id'>]: number }

/** The rows of these indexes as objects. */
export function points<Field extends string, Flag extends Field = never>(
  { fields, data }: Columns<Field>,
  rows: readonly number[],
  flags: readonly Flag[] = [],
): Point<Field, Flag>[] {
  const isFlag = new Set<string>(flags)
  const width = fields.length
  return rows.map((row) => {
    const entries = fields.map((field, index) => {
      const value = data[row * width + index] ?? Number.NaN
      if (isFlag.has(field)) return [field, value !== 0] as const
      return [field, Number.isFinite(value) ? value : null] as const
    })
    // The type says what the loop does: each field once, flags as booleans, and a frame id is never absent.
    return Object.fromEntries(entries) as Point<Field, Flag>
  })
}
