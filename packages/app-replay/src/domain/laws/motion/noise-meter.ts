/**
 * If each recorded state has an independent error, residuals of neighbouring steps have a correlation of -0.5.
 * Unrecorded forces have zero or positive correlation, a shaking body has -1. The errors cancel in the sum over
 * steps, which stays within two noise levels unless it drifts.
 */

import { CumulativeSum } from './cumulative-sum.ts'

/** `maxDeviations` are standard deviations. */
const rule = { correlation: [-0.8, -0.25], minSteps: 16, maxDeviations: 6 } as const

/** Sums over consecutive steps of a free body. */
interface Sums {
  frame: number
  steps: number
  readonly residual: [number, number, number]
  squares: number
  products: number
  gain: number
  gains: number
  gainsBefore: number
  gainSquares: number
  gainProducts: number
  readonly residualSums: readonly [CumulativeSum, CumulativeSum, CumulativeSum]
  readonly gainSum: CumulativeSum
}

/** Largest residual in N·s and largest gain in J that noise explains. */
interface NoiseLevel {
  readonly residual: number
  readonly gain: number
}

/** Residual in N·s and gain in J of a free step. In a correct step, each may reach its slack. */
export interface FreeStep extends Readonly<Record<'x' | 'y' | 'z' | 'gain', number>> {
  readonly slack: number
  readonly gainSlack: number
}

/** Largest sum over steps, in N·s or J. */
export interface Drift {
  readonly first: number
  readonly last: number
  readonly sum: number
  readonly limit: number
}

export class NoiseMeter {
  readonly #sumsByColumn: (Sums | undefined)[] = []

  add(column: number, frame: number, { x, y, z, gain, slack, gainSlack }: FreeStep): void {
    const existing = this.#sumsByColumn[column]
    const sums = existing ?? createSums()
    if (existing === undefined) this.#sumsByColumn[column] = sums
    const square = x * x + y * y + z * z
    // Larger residuals are not noise, unless rounding explains them.
    const limit = Math.max(slack * slack, rule.maxDeviations ** 2 * (sums.squares / sums.steps))
    const isOutlier = sums.steps >= rule.minSteps && square > limit
    if (Number.isNaN(square) || isOutlier) return
    const { residualSums, gainSum } = sums
    if (sums.frame === frame - 1) {
      sums.steps += 1
      sums.squares += square
      sums.products += x * sums.residual[0] + y * sums.residual[1] + z * sums.residual[2]
      sums.gains += gain
      sums.gainsBefore += sums.gain
      sums.gainSquares += gain * gain
      sums.gainProducts += gain * sums.gain
      residualSums[0].add(frame, x, slack)
      residualSums[1].add(frame, y, slack)
      residualSums[2].add(frame, z, slack)
      gainSum.add(frame, gain, gainSlack)
    } else for (const sum of [...residualSums, gainSum]) sum.restart()
    sums.frame = frame
    sums.residual[0] = x
    sums.residual[1] = y
    sums.residual[2] = z
    sums.gain = gain
  }

  measure(column: number): NoiseLevel {
    const sums = this.#sumsByColumn[column]
    if (sums === undefined || sums.steps < rule.minSteps) return { residual: 0, gain: 0 }
    const { steps, squares, products, gains, gainsBefore, gainSquares, gainProducts } = sums
    const [mean, meanBefore] = [gains / steps, gainsBefore / steps]
    return {
      residual: toLevel(squares / steps, products / steps),
      gain: toLevel(gainSquares / steps - mean * mean, gainProducts / steps - mean * meanBefore),
    }
  }

  /** Returns `undefined` if noise explains the sum. */
  findDrift(column: number, quantity: keyof NoiseLevel): Drift | undefined {
    const sums = this.#sumsByColumn[column]
    const limit = 2 * this.measure(column)[quantity]
    if (sums === undefined || !(limit > 0)) return undefined
    return (quantity === 'gain' ? [sums.gainSum] : sums.residualSums)
      .map(({ largest }) => ({ ...largest, limit }))
      .filter(({ sum }) => Math.abs(sum) > limit)
      .toSorted((a, b) => Math.abs(b.sum) - Math.abs(a.sum))[0]
  }
}

function toLevel(variance: number, covariance: number): number {
  const correlation = covariance / variance
  const [min, max] = rule.correlation
  return correlation > min && correlation < max ? rule.maxDeviations * Math.sqrt(variance) : 0
}

const createSums = (): Sums => ({
  frame: Number.NaN,
  steps: 0,
  residual: [0, 0, 0],
  squares: 0,
  products: 0,
  gain: 0,
  gains: 0,
  gainsBefore: 0,
  gainSquares: 0,
  gainProducts: 0,
  residualSums: [new CumulativeSum(), new CumulativeSum(), new CumulativeSum()],
  gainSum: new CumulativeSum(),
})
