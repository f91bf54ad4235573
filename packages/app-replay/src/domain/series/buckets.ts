import type { NdArray } from 'ndarray'
import { listRows } from './columns.ts'

/**
 * Returns at most `limit` (2 or more) ascending rows: the first, the last, and the minima and maxima of equally large
 * buckets between them. Values that are not finite count as maxima.
 */
export function selectMinMaxRows(values: NdArray<Float64Array>, limit: number): number[] {
  const length = values.shape[0] ?? 0
  if (length <= limit) return listRows(0, length)
  const rows = new Set([0, length - 1])
  const buckets = Math.floor((limit - 2) / 2)
  const inner = length - 2
  for (let bucket = 0; bucket < buckets; bucket++) {
    const from = 1 + Math.floor((bucket * inner) / buckets)
    const to = 1 + Math.floor(((bucket + 1) * inner) / buckets)
    const { least, greatest } = findExtremes(values, from, to)
    rows.add(least).add(greatest)
  }
  return [...rows].sort((a, b) => a - b)
}

function findExtremes(
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
