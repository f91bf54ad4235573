import { stateAt } from '@causeway/recording'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { formatNumber } from '../../sentence.ts'
import { getOffset, length3, num, read3 } from '../../steps/block.ts'
import type { Run } from '../../steps/run.ts'
import type { Scene } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import { dot3, type Point3 } from '../../vector.ts'

/** Minimum number of frames, and maximum deviation relative to the mean. */
const rule = { minFrames: 10, maxSpread: 0.05 } as const

/** Cosine of 5 degrees. */
const gravityCosine = 0.996

interface UnexplainedSum {
  /** Sum over the `judgedFrames` in m/s²; `squares` is the sum of squares. */
  readonly acceleration: Point3
  readonly squares: number
  readonly judgedFrames: number
}

export class ConstantAccelerations {
  readonly #scene: Scene | undefined
  readonly #groups: { run: Run; readonly vector: Point3; readonly bodies: number[] }[] = []

  constructor(scene: Scene | undefined) {
    this.#scene = scene
  }

  /** Adds the run if its acceleration is constant; otherwise returns `false`. */
  add(run: Run, { acceleration, squares, judgedFrames }: UnexplainedSum): boolean {
    if (judgedFrames < rule.minFrames || judgedFrames < 0.8 * run.frames) return false
    const vector: Point3 = [
      acceleration[0] / judgedFrames,
      acceleration[1] / judgedFrames,
      acceleration[2] / judgedFrames,
    ]
    const size = length3(...vector)
    const variance = Math.max(0, squares / judgedFrames - size ** 2)
    if (!(Math.sqrt(variance) <= rule.maxSpread * size)) return false
    const matchingGroup = this.#groups.find(
      (group) =>
        length3(vector[0] - group.vector[0], vector[1] - group.vector[1], vector[2] - group.vector[2]) <=
        rule.maxSpread * size,
    )
    if (matchingGroup === undefined) {
      this.#groups.push({ run: { ...run }, vector, bodies: [...run.bodies] })
      return true
    }
    matchingGroup.run = {
      ...matchingGroup.run,
      last: Math.max(matchingGroup.run.last, run.last),
      frames: Math.max(matchingGroup.run.frames, run.frames),
    }
    for (const body of run.bodies) if (!matchingGroup.bodies.includes(body)) matchingGroup.bodies.push(body)
    return true
  }

  get findings(): readonly Finding[] {
    return this.#groups.map(({ run, vector, bodies }) =>
      createFinding(
        { ...run, bodies: bodies.toSorted((a, b) => a - b) },
        {
          kind: 'unexplained_acceleration',
          unit: 'm/s²',
          confidence: 0.9,
          value: length3(...vector),
          limit: 0.01 * (this.#scene?.g ?? 0),
          text: describeAcceleration(vector, this.#scene),
        },
      ),
    )
  }
}

/**
 * `minShare` is relative to gravity, `minAcceleration` in m/s², `maxSpread` relative to the mean. `minDeviations` are standard
 * deviations of the mean.
 */
const weakRule = {
  minSteps: 20,
  minShare: 1e-3,
  minAcceleration: 1e-3,
  maxSpread: 0.5,
  minDeviations: 6,
  maxDragError: 0.2,
} as const

interface WeakSum {
  readonly first: number
  last: number
  steps: number
  readonly sum: [number, number, number]
  squares: number
  /** Sums of acceleration times velocity, and of squared velocities. */
  along: number
  squaredSpeeds: number
  /** Largest rounding error, m/s². */
  error: number
}

/** Constant accelerations within the tolerance of single steps, as means over a body's free steps. */
export class WeakAccelerations {
  readonly #sums = new Map<number, WeakSum>()
  #scene: Scene | undefined

  /** Adds the residual of a free step in N·s. */
  add(step: Step, column: number, residual: Point3, slack: number): void {
    const { scene, dt, frame, window } = step
    this.#scene = scene
    const weight = num(scene.masses, column) * dt
    const size = length3(...residual)
    if (!(size <= slack) || !(weight > 0)) return
    const sums = this.#sums.get(column) ?? createWeakSum(frame)
    this.#sums.set(column, sums)
    const velocity = read3(window.states.data, getOffset(step, column) + stateAt.velocity)
    for (const i of [0, 1, 2] as const) sums.sum[i] += residual[i] / weight
    sums.squares += (size / weight) ** 2
    sums.along += dot3(residual, velocity) / weight
    sums.squaredSpeeds += dot3(velocity, velocity)
    sums.error = Math.max(sums.error, num(step.errors.velocityChange, column) / dt)
    sums.steps += 1
    sums.last = frame
  }

  get findings(): readonly Finding[] {
    const scene = this.#scene
    if (scene === undefined) return []
    return [...this.#sums].flatMap(
      ([column, { first, last, steps, sum, squares, along, squaredSpeeds, error }]) => {
        const vector: Point3 = [sum[0] / steps, sum[1] / steps, sum[2] / steps]
        const size = length3(...vector)
        const deviation = Math.sqrt(Math.max(0, squares / steps - size ** 2))
        const clockError = (scene.g * scene.rounding.time.absolute) / (weakRule.minSteps * scene.dt)
        const limit =
          Math.max(weakRule.minAcceleration, weakRule.minShare * scene.g) +
          clockError +
          (weakRule.minDeviations * deviation + error) / Math.sqrt(steps)
        const isDrag =
          along < 0 && squares - along ** 2 / squaredSpeeds < weakRule.maxDragError ** 2 * squares
        if (steps < weakRule.minSteps || isDrag || deviation > weakRule.maxSpread * size || !(size > limit))
          return []
        const bodies = [scene.bodies[column] ?? 0]
        return createFinding(
          { first, last, peak: first, value: size, limit, bodies, pair: null },
          {
            kind: 'unexplained_acceleration',
            severity: 'warning',
            unit: 'm/s²',
            confidence: 0.7,
            text: describeAcceleration(vector, scene),
          },
        )
      },
    )
  }
}

const createWeakSum = (first: number): WeakSum => ({
  first,
  last: first,
  steps: 0,
  sum: [0, 0, 0],
  squares: 0,
  along: 0,
  squaredSpeeds: 0,
  error: 0,
})

function describeAcceleration(vector: Point3, scene: Scene | undefined): string {
  const [x, y, z] = vector
  const digit = 10 ** (Math.floor(Math.log10(length3(x, y, z))) - 2)
  const parts = vector.map((part) => formatNumber(Number((Math.round(part / digit) * digit).toPrecision(6))))
  const text = `has an unexplained acceleration of (${parts.join(', ')}) m/s²`
  if (scene === undefined || !(scene.g > 0)) return text
  const [gx, gy, gz] = scene.gravity
  const along = (x * gx + y * gy + z * gz) / scene.g
  if (!(Math.abs(along) > gravityCosine * length3(x, y, z)) || !(scene.g + along > 0)) return text
  const fall = formatNumber(Number((scene.g + along).toPrecision(4)))
  return `falls with ${fall} m/s², but the recorded gravity is ${formatNumber(scene.g)} m/s²`
}
