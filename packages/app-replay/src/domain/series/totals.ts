import type { Value } from '@causeway/recording'
import type { NdArray } from 'ndarray'

/** Figures of all rows, in the column's unit; `null` if no value is finite. */
export interface Totals {
  readonly count: number
  readonly nonfinite: number
  readonly min: Value
  readonly min_frame: number | null
  readonly max: Value
  readonly max_frame: number | null
  readonly first: Value
  readonly last: Value
  readonly mean: Value
  /** last - first */
  readonly drift: Value
}

export function computeTotals(values: NdArray<Float64Array>, frames: NdArray<Float64Array>): Totals {
  const length = values.shape[0] ?? 0
  let finite = 0
  let mean = 0
  const at = { min: -1, max: -1, first: -1, last: -1 }
  for (let row = 0; row < length; row++) {
    const value = values.get(row)
    if (!Number.isFinite(value)) continue
    finite += 1
    // Divides first, so that the running mean stays finite for values near the largest double.
    mean += value / finite - mean / finite
    if (at.first === -1) at.first = row
    at.last = row
    if (at.min === -1 || value < values.get(at.min)) at.min = row
    if (at.max === -1 || value > values.get(at.max)) at.max = row
  }
  const getValue = (row: number): Value => (row === -1 ? null : values.get(row))
  const frame = (row: number): number | null => (row === -1 ? null : frames.get(row))
  return {
    count: length,
    nonfinite: length - finite,
    min: getValue(at.min),
    min_frame: frame(at.min),
    max: getValue(at.max),
    max_frame: frame(at.max),
    first: getValue(at.first),
    last: getValue(at.last),
    mean: finite === 0 ? null : mean,
    drift: finite === 0 ? null : values.get(at.last) - values.get(at.first),
  }
}
