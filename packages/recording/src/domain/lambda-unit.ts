import ndarray, { type NdArray } from 'ndarray'
import type { LambdaUnit } from '../types.ts'
import { median } from './median.ts'
import type { MomentumRow } from './momentum.ts'

/** Part by which the fitted factor may miss 1 (impulses) or dt (forces). */
const tolerance = 0.1

/**
 * The unit of the recorded lambdas, from how much momentum the bodies gained: where change = s * lambda, s is 1 for
 * impulses and dt for forces. `rows` are the steps in which a body had contact rows; dt in s.
 *
 * s is the median over the rows of the least-squares factor (change . lambda) / (lambda . lambda) of each, so that a
 * solver that diverges in some frames does not decide.
 */
export function inferLambdaUnit(rows: readonly MomentumRow[], dt: number): LambdaUnit {
  const shape = [rows.length, 3]
  const change = ndarray(Float64Array.from(rows.flatMap((row) => row.change)), shape)
  const lambda = ndarray(Float64Array.from(rows.flatMap((row) => row.lambda)), shape)
  const factors: number[] = []
  for (let i = 0; i < rows.length; i++) {
    const factor = leastSquaresFactor(change.pick(i, null), lambda.pick(i, null))
    if (factor !== null) factors.push(factor)
  }
  const s = median(factors)
  if (s === null) return 'unknown'
  if (Math.abs(s - 1) <= tolerance) return 'N·s'
  if (Math.abs(s - dt) <= tolerance * dt) return 'N'
  return 'unknown'
}

/** s that minimises |y - s x|; both are scaled by the largest |x|, since squares of diverged values overflow. */
function leastSquaresFactor(y: NdArray<Float64Array>, x: NdArray<Float64Array>): number | null {
  const scale = Math.max(Math.abs(x.get(0)), Math.abs(x.get(1)), Math.abs(x.get(2)))
  if (!(scale > 0)) return null
  let [xy, xx] = [0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const unit = x.get(axis) / scale
    xy += unit * (y.get(axis) / scale)
    xx += unit * unit
  }
  const factor = xy / xx
  return Number.isFinite(factor) ? factor : null
}
