/** Which rows of a long series to show, so that no peak is lost. */
import type { NdArray } from 'ndarray'
import { rowsFrom } from './columns.ts'

/**
 * At most `limit` (2 or more) row indexes, ascending: first and last, and of each of the equal buckets between them the
 * rows with the least and the greatest value. A row without a finite value wins as the greatest: it is worth seeing.
 */
export function minMaxRows(values: NdArray<Float64Array>, limit: number): number[] {
  const length = values.shape[0] ?? 0
  if (length <= limit) return rowsFrom(0, length)
  const rows = new Set([0, length - 1])
  const buckets = Math.floor((limit - 2) / 2)
  const inner = length - 2
  for (let bucket = 0; bucket < buckets; bucket++) {
    const from = 1 + Math.floor((bucket * inner) / buckets)
    const to = 1 + Math.floor(((bucket + 1) * inner) / buckets)
    const { least, greatest } = extremes(values, from, to)
    rows.add(least).add(greatest)
  }
  return [...rows].sort((a, b) => a - b)
}

function extremes(
  values: NdArray<Float64Array>,
  from: number,
  to: number,
): { least: number; greatest: number } {
  let least = from
  let greatest = from
  const height = (row: number): number => {
    const value = values.get(row)
    return Number.isFinite(value) ? value : Number.POSITIVE_INFINITY
  }
  for (let row = from + 1; row < to; row++) {
    if (height(row) < height(least)) least = row
    if (height(row) > height(greatest)) greatest = row
  }
  return { least, greatest }
}
