/**
 * If each velocity has an independent error, residuals of neighbouring steps have a correlation of -0.5.
 * Unrecorded forces have none or a positive one; a body that shakes has -1.
 */

/** `deviations` are standard deviations. */
const rule = { correlation: [-0.8, -0.25], steps: 16, deviations: 6 } as const

interface Sums {
  frame: number
  steps: number
  readonly residual: [number, number, number]
  squares: number
  products: number
  gain: number
  gains: number
  gainSquares: number
  gainProducts: number
}

/** Largest residual in N·s and largest gain in J explained by noise. */
interface NoiseLevel {
  readonly residual: number
  readonly gain: number
}

export class NoiseMeter {
  readonly #columns: (Sums | undefined)[] = []

  /** Free step: residual in N·s, gain in J. */
  add(
    column: number,
    frame: number,
    { x, y, z, gain }: Readonly<Record<'x' | 'y' | 'z' | 'gain', number>>,
  ): void {
    const last = this.#columns[column]
    const sums = last ?? {
      frame: Number.NaN,
      steps: 0,
      residual: [0, 0, 0],
      squares: 0,
      products: 0,
      gain: 0,
      gains: 0,
      gainSquares: 0,
      gainProducts: 0,
    }
    if (last === undefined) this.#columns[column] = sums
    const square = x * x + y * y + z * z
    // Larger residuals are not noise.
    const isOutlier = sums.steps >= rule.steps && square > rule.deviations ** 2 * (sums.squares / sums.steps)
    if (Number.isNaN(square) || isOutlier) return
    if (sums.frame === frame - 1) {
      sums.steps += 1
      sums.squares += square
      sums.products += x * sums.residual[0] + y * sums.residual[1] + z * sums.residual[2]
      sums.gains += gain
      sums.gainSquares += gain * gain
      sums.gainProducts += gain * sums.gain
    }
    sums.frame = frame
    sums.residual[0] = x
    sums.residual[1] = y
    sums.residual[2] = z
    sums.gain = gain
  }

  measure(column: number): NoiseLevel {
    const sums = this.#columns[column]
    if (sums === undefined || sums.steps < rule.steps) return { residual: 0, gain: 0 }
    const { steps, squares, products, gains, gainSquares, gainProducts } = sums
    const mean = gains / steps
    return {
      residual: toLevel(squares / steps, products / steps),
      gain: toLevel(gainSquares / steps - mean * mean, gainProducts / steps - mean * mean),
    }
  }
}

function toLevel(variance: number, covariance: number): number {
  const correlation = covariance / variance
  const [least, most] = rule.correlation
  return correlation > least && correlation < most ? rule.deviations * Math.sqrt(variance) : 0
}
