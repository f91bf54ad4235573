import type { Series } from '../data/replay.ts'
import { needsLogAxis, toSymlog } from './fit.ts'

/** Values of one series over frames. A value that is not finite is `null` and leaves a gap in the line. */
export interface Curve {
  readonly frames: readonly number[]
  readonly values: readonly (number | null)[]
}

export type AxisRange = readonly [low: number, high: number]

/**
 * `isLog` compresses values with `toSymlog`; by default only if necessary. `isRelative` subtracts each curve's first
 * value.
 */
export function toCurves(
  series: readonly Series[],
  isRelative: boolean,
  isLog?: boolean,
): { readonly curves: readonly Curve[]; readonly isLog: boolean } {
  const curves = series.map(({ frames, values }): Curve => {
    const base = isRelative ? (values.find((value) => value !== null) ?? 0) : 0
    return {
      frames,
      values: values.map((value) => (value === null || !Number.isFinite(value) ? null : value - base)),
    }
  })
  if (!(isLog ?? curves.some(({ values }) => needsLogAxis(values)))) return { curves, isLog: false }
  const compress = (value: number | null): number | null => (value === null ? null : toSymlog(value))
  return {
    curves: curves.map(({ frames, values }) => ({ frames, values: values.map(compress) })),
    isLog: true,
  }
}

/** Returns the range between two frames, with a margin of a tenth that does not cross zero. */
export function findValueRange(curves: readonly Curve[], first: number, last: number): AxisRange {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { frames, values } of curves)
    for (const [index, value] of values.entries()) {
      const frame = frames[index] ?? Number.NaN
      if (value === null || !(frame >= first && frame <= last)) continue
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  if (low > high) return [0, 1]
  const margin = (high > low ? high - low : Math.abs(high) || 1) / 10
  return [
    low >= 0 ? Math.max(0, low - margin) : low - margin,
    low < 0 && high <= 0 ? Math.min(0, high + margin) : high + margin,
  ]
}

/** Returns at most `maxCount` round values in a range, at least `minStep` apart. */
export function listTicks([low, high]: AxisRange, maxCount: number, minStep = 0): readonly number[] {
  const minDistance = Math.max((high - low) / Math.max(1, maxCount - 1), minStep)
  if (!(minDistance > 0) || !Number.isFinite(minDistance)) return [low]
  const power = 10 ** Math.floor(Math.log10(minDistance))
  const step = power * ([1, 2, 5].find((factor) => factor * power >= minDistance * (1 - 1e-9)) ?? 10)
  const start = Math.ceil(low / step - 1e-9)
  const count = Math.floor(high / step + 1e-9) - start + 1
  return Array.from({ length: Math.max(0, count) }, (_, index) => (start + index) * step)
}
