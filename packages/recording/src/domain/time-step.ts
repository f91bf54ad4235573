import type { RecordingSummary, Value } from '../types.ts'
import { median } from './median.ts'

const tolerance = 1e-6

/**
 * Computes `dt` in s: the mean step if all are equal, otherwise the median of positive steps; null if time never
 * advances.
 */
export function computeTimeStep(times: readonly Value[]): {
  readonly dt: Value
  readonly isUniform: boolean
} {
  const steps: number[] = []
  for (let i = 1; i < times.length; i++) {
    const [before, after] = [times[i - 1] ?? null, times[i] ?? null]
    if (before !== null && after !== null) steps.push(after - before)
  }
  const dt = median(steps.filter((step) => step > 0 && Number.isFinite(step)))
  if (dt === null) return { dt: null, isUniform: steps.length === 0 }
  const largest = times.reduce<number>(
    (max, time) => (Number.isFinite(time) ? Math.max(max, Math.abs(time ?? 0)) : max),
    0,
  )
  const limit = tolerance * dt + 2 * Number.EPSILON * largest
  const isUniform = steps.length === times.length - 1 && steps.every((step) => Math.abs(step - dt) <= limit)
  // The mean contains the rounding error only once.
  const [first, last] = [times[0] ?? null, times.at(-1) ?? null]
  if (!isUniform || first === null || last === null) return { dt, isUniform }
  return { dt: (last - first) / steps.length, isUniform }
}

export function describeFrames(ids: readonly number[]): RecordingSummary['frames'] {
  const [first_frame, last_frame] = [ids[0], ids.at(-1)]
  if (first_frame === undefined || last_frame === undefined) return null
  const contiguous = last_frame - first_frame + 1 === ids.length
  return { first_frame, last_frame, total_frames: ids.length, contiguous }
}
