import type { Value } from '../types.ts'
import { median } from './median.ts'

/** Part of a step by which steps may differ and still count as equal: the rounding of k * dt in float64. */
const tolerance = 1e-6

/** Step of the frame times, s: the mean where all steps are equal, else the median; null where time stands still. */
export function timeStep(times: readonly Value[]): { readonly dt: Value; readonly isUniform: boolean } {
  const steps: number[] = []
  for (let i = 1; i < times.length; i++) {
    const [before, after] = [times[i - 1] ?? null, times[i] ?? null]
    if (before !== null && after !== null) steps.push(after - before)
  }
  const dt = median(steps)
  if (dt === null) return { dt: null, isUniform: true }
  if (dt === 0) return { dt: null, isUniform: false }
  const isUniform =
    steps.length === times.length - 1 &&
    steps.every((step) => Math.abs(step - dt) <= tolerance * Math.abs(dt))
  // Differences of neighbours carry the rounding of k * dt; the whole span carries it once.
  const [first, last] = [times[0] ?? null, times.at(-1) ?? null]
  if (!isUniform || first === null || last === null) return { dt, isUniform }
  return { dt: (last - first) / steps.length, isUniform }
}
