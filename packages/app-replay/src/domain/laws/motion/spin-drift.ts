/** Law `angular_momentum`, sums over free flights (docs/laws.md, Motion). */
import { createFinding, type Finding } from '../../findings/finding.ts'
import { length3, num } from '../../steps/block.ts'
import type { Step } from '../../steps/step.ts'
import type { Point3, Rotation } from '../../vector.ts'
import { CumulativeSum } from './cumulative-sum.ts'

/** `minChange` and `rounding` are relative. `minDeviations` are standard deviations of a step. `minSpin` is in rad/s. */
const rule = { minChange: 0.01, minDeviations: 12, rounding: 1e-6, minSpin: 0.1 } as const

/** `momentum` (N·m·s) and `spin` (rad/s) are in world coordinates, `inertia` (kg·m²) is about principal axes. */
export interface Turning {
  readonly inertia: Point3
  readonly rotationBefore: Rotation
  readonly momentum: Point3
  readonly momentumBefore: Point3
  readonly spin: Point3
  readonly spinBefore: Point3
  /** 1 - (smallest moment) / (largest moment). If 0, the gyroscopic term and its integration error are 0. */
  readonly anisotropy: number
}

interface Flight {
  frame: number
  steps: number
  squares: number
  /** N·m·s */
  momentum: number
  readonly momentumSum: CumulativeSum
  /** Drift of the spin, which is constant without a gyroscopic term. */
  readonly spinSum: CumulativeSum
}

export class SpinDrifts {
  readonly #flights = new Map<number, Flight>()

  add(
    { scene, frame, dt, errors }: Step,
    column: number,
    { momentum, momentumBefore, spin, spinBefore, anisotropy }: Turning,
  ): void {
    const body = scene.bodies[column] ?? 0
    const [now, previous] = [length3(...spin), length3(...spinBefore)]
    if (!(Math.min(now, previous) > rule.minSpin)) return
    const flight = this.#flights.get(body) ?? createFlight()
    this.#flights.set(body, flight)
    const size = length3(...momentum)
    const change = Math.log(size / length3(...momentumBefore))
    if (flight.frame !== frame - 1) {
      flight.momentumSum.restart()
      flight.spinSum.restart()
    }
    // An explicit gyroscopic step lengthens the momentum by half of the squared term.
    const error = num(errors.spinChange, column) / now + anisotropy * num(errors.rotation, column)
    const slack = (anisotropy * Math.max(now, previous) * dt) ** 2 + rule.rounding + error
    flight.momentumSum.add(frame, change, slack)
    flight.spinSum.add(frame, Math.log(now / previous), slack)
    flight.frame = frame
    flight.steps += 1
    flight.squares += change * change
    flight.momentum = Math.max(flight.momentum, size)
  }

  get findings(): readonly Finding[] {
    return [...this.#flights].flatMap(([body, { momentumSum, spinSum, squares, steps, momentum }]) => {
      const { first, last, sum } = momentumSum.largest
      const limit = Math.max(rule.minChange, rule.minDeviations * Math.sqrt(squares / steps))
      if (!(Math.min(Math.abs(sum), Math.sign(sum) * spinSum.largest.sum) > limit)) return []
      const run = { first, last, peak: last, bodies: [body], pair: null }
      return createFinding(
        { ...run, value: Math.abs(Math.expm1(sum)) * momentum, limit: limit * momentum },
        {
          kind: 'angular_momentum',
          // Many engines damp spins by default.
          severity: sum > 0 ? 'warning' : 'info',
          unit: 'N·m·s',
          confidence: 0.8,
          text: `${sum > 0 ? 'gains' : 'loses'} spin gradually without a torque`,
          advice: 'If a torque or damping acts on it, record it in bodies[].forces.',
        },
      )
    })
  }
}

const createFlight = (): Flight => ({
  frame: Number.NaN,
  steps: 0,
  squares: 0,
  momentum: 0,
  momentumSum: new CumulativeSum(),
  spinSum: new CumulativeSum(),
})
