import type { NdArray } from 'ndarray'
import { listRows } from './columns.ts'

/**
 * Returns at most `limit` (2 or more) ascending rows: the first, the last, and the minima and maxima of equally large
 * buckets between them. Non-finite values count as maxima.
 */
export function selectMinMaxRows(values: NdArray<Float64Array>, limit: number): number[] {
  const length = values.shape[0] ?? 0
  if (length <= limit) return listRows(0, length)
  const rows = new Set([0, length - 1])
  const bucketCount = Math.floor((limit - 2) / 2)
  const innerLength = length - 2
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    const from = 1 + Math.floor((bucket * innerLength) / bucketCount)
    const to = 1 + Math.floor(((bucket + 1) * innerLength) / bucketCount)
    const { minRow, maxRow } = findExtremes(values, from, to)
    rows.add(minRow).add(maxRow)
  }
  return [...rows].sort((a, b) => a - b)
}

function findExtremes(
  values: NdArray<Float64Array>,
  from: number,
  to: number,
): { minRow: number; maxRow: number } {
  let minRow = from
  let maxRow = from
  const getFiniteValue = (row: number): number => {
    const value = values.get(row)
    return Number.isFinite(value) ? value : Number.POSITIVE_INFINITY
  }
  for (let row = from + 1; row < to; row++) {
    if (getFiniteValue(row) < getFiniteValue(minRow)) minRow = row
    if (getFiniteValue(row) > getFiniteValue(maxRow)) maxRow = row
  }
  return { minRow, maxRow }
}
