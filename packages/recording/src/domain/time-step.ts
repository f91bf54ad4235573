import type { Value } from '../types.ts'
import { median } from './median.ts'

/** Part of a step by which steps may differ and still count as equal: the rounding of k * dt in float64. */
const tolerance = 1e-6

/** Median step of the frame times, s, and whether all steps equal it; null where time stands still. */
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
  return { dt, isUniform }
}
