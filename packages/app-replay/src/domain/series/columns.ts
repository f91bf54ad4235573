import type { Columns, Value } from '@causeway/recording'
import ndarray, { type NdArray } from 'ndarray'

/** Returns a strided view of a column, shape [length]. NaN means not recorded. */
export function getColumn<Field extends string>(
  { fields, length, data }: Columns<Field>,
  field: Field,
): NdArray<Float64Array> {
  const index = fields.indexOf(field)
  if (index === -1) throw new RangeError(`no such column: ${field}`)
  return ndarray(data, [length, fields.length]).pick(null, index)
}

/** `end` is exclusive. */
export const listRows = (first: number, end: number): number[] =>
  Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index)

export function filterRows(length: number, predicate: (row: number) => boolean): number[] {
  const rows: number[] = []
  for (let row = 0; row < length; row++) if (predicate(row)) rows.push(row)
  return rows
}

/** A row as an object. NaN and infinities are `null`; `flags` are booleans. */
export type Point<Field extends string, Flag extends Field = never> = {
  readonly [Name in Exclude<Field, Flag | 'frame_id'>]: Value
} & { readonly [Name in Flag]: boolean | null } & { readonly [Name in Extract<Field, 'frame_id'>]: number }

export function toPoints<Field extends string, Flag extends Field = never>(
  { fields, data }: Columns<Field>,
  rows: readonly number[],
  flags: readonly Flag[] = [],
): Point<Field, Flag>[] {
  const isFlag = new Set<string>(flags)
  const width = fields.length
  return rows.map((row) => {
    const entries = fields.map((field, index) => {
      const value = data[row * width + index] ?? Number.NaN
      if (isFlag.has(field) && !Number.isNaN(value)) return [field, value !== 0] as const
      return [field, Number.isFinite(value) ? value : null] as const
    })
    // Every field occurs once. A frame id always has a value.
    return Object.fromEntries(entries) as Point<Field, Flag>
  })
}
