/** Rounding of recordings with few decimals, as text often has (docs/laws.md, `angular_momentum`). */
import { frictionAt } from '@causeway/recording'
import { length3, num, read3 } from '../../steps/block.ts'
import type { Step } from '../../steps/step.ts'

/** Fewer decimals do not indicate rounding, and more do not matter. */
const decimals = { min: 4, max: 6 } as const

const impulseParts = [frictionAt.n, frictionAt.t1, frictionAt.t2] as const

/** The unit to which impulses are rounded. States are assumed to have the same. */
export class ImpulseRounding {
  #decimals: number = decimals.min

  observe({ window, row }: Step): void {
    const { offset, data } = window.friction
    for (let i = offset[row] ?? 0; i < (offset[row + 1] ?? 0); i++)
      for (const part of impulseParts) {
        const value = num(data.data, i * frictionAt.width + part)
        while (this.#decimals <= decimals.max && !isMultiple(value * 10 ** this.#decimals))
          this.#decimals += 1
        if (this.#decimals > decimals.max) return
      }
  }

  /** N·m·s: the largest error of the torques on a body. */
  measureTorque(step: Step, column: number): number {
    if (this.#decimals > decimals.max || step.touching[column] !== 1) return 0
    const { scene, window, row, dt } = step
    const { offset, data } = window.friction
    const block = data.data
    const factor = scene.impulseFactor(dt)
    let sum = 0
    for (let i = offset[row] ?? 0; i < (offset[row + 1] ?? 0); i++) {
      const at = i * frictionAt.width
      const isA = block[at] === scene.bodies[column]
      if (!isA && block[at + 1] !== scene.bodies[column]) continue
      const lever = length3(...read3(block, at + (isA ? frictionAt.leverA : frictionAt.leverB)))
      const [n, t1, t2] = impulseParts.map((part) => Math.abs(num(block, at + part)) || 0)
      // Of the impulses, and of their directions and points.
      sum += factor * (lever + ((n ?? 0) + (t1 ?? 0) + (t2 ?? 0)) * (lever + 2))
    }
    return sum * 10 ** -this.#decimals
  }
}

const isMultiple = (value: number): boolean =>
  Number.isNaN(value) || Math.abs(value - Math.round(value)) <= 1e-9 + 1e-12 * Math.abs(value)
