/**
 * Law `free_energy`, changes of the integrator. In a free step, a position advances by (u + s (v - u)) dt, where u
 * and v are the velocities before and after the step. The share s is 0 for explicit Euler and 1 for semi-implicit
 * Euler, regardless of the force and dt.
 */
import { stateAt } from '@causeway/recording'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { getOffset, getOffsetBefore, num } from '../../steps/block.ts'
import type { Scene } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import { balanceTolerance } from './body-balance.ts'

/**
 * A share is constant if it stays within `maxSpread` for `minSteps`. Integrators differ by at least `minChange`. With k
 * substeps, the share is 1/2 + 1 / 2k. It changes by less if dt, and with it k, changes by less than `maxDtRatio`.
 */
const rule = { minSteps: 10, maxSpread: 0.05, minChange: 0.4, maxDtRatio: 2, maxExplicitShare: 0.1 } as const

/** Steps in which a body's share s is constant. */
interface Phase {
  readonly column: number
  readonly first: number
  last: number
  steps: number
  share: number
  /** Mean step in s. */
  dt: number
  /** Sum of m g² dt² in J. */
  scale: number
}

interface Change {
  readonly phase: Phase
  readonly otherShare: number
  readonly isPermanent: boolean
}

export class IntegratorMeter {
  readonly #openPhases: (Phase | undefined)[] = []
  readonly #usualPhases: (Phase | undefined)[] = []
  readonly #changes: Change[] = []
  #scene: Scene | undefined

  add(step: Step, column: number): void {
    const share = measureVelocityShare(step, column)
    if (Number.isNaN(share)) return
    const { frame, dt, scene } = step
    this.#scene = scene
    const scale = num(scene.masses, column) * (scene.g * dt) ** 2
    const phase = this.#openPhases[column]
    if (phase === undefined || !(Math.abs(share - phase.share) <= rule.maxSpread)) {
      this.#openPhases[column] = { column, first: frame, last: frame, steps: 1, share, dt, scale }
      return
    }
    phase.steps += 1
    phase.last = frame
    phase.share += (share - phase.share) / phase.steps
    phase.dt += (dt - phase.dt) / phase.steps
    phase.scale += scale
    if (phase.steps === rule.minSteps) this.#judge(phase)
  }

  #judge(phase: Phase): void {
    // Steps with other shares gain or lose more energy than those of any integrator.
    if (!(Math.abs(phase.share - 0.5) <= 0.5 + rule.maxSpread)) return
    const usual = this.#usualPhases[phase.column]
    if (usual === undefined) this.#usualPhases[phase.column] = phase
    else if (isDifferent(phase, usual))
      this.#changes.push({ phase, otherShare: usual.share, isPermanent: false })
  }

  get findings(): readonly Finding[] {
    return [...this.#changes, ...this.#findExplicit()].map((change) => toFinding(change, this.#scene))
  }

  /** Returns bodies that always gain energy, while at least as many others do not. */
  #findExplicit(): readonly Change[] {
    const changedColumns = new Set(this.#changes.map(({ phase }) => phase.column))
    const constantPhases = this.#usualPhases.flatMap((phase) =>
      phase === undefined || changedColumns.has(phase.column) ? [] : [phase],
    )
    const explicitPhases = constantPhases.filter(({ share }) => share <= rule.maxExplicitShare)
    return explicitPhases.flatMap((phase) => {
      const otherPhases = constantPhases.filter((other) => isDifferent(phase, other))
      const [other] = otherPhases
      return other === undefined || otherPhases.length < explicitPhases.length
        ? []
        : [{ phase, otherShare: other.share, isPermanent: true }]
    })
  }
}

const isDifferent = (a: Phase, b: Phase): boolean =>
  Math.abs(a.share - b.share) >= rule.minChange && Math.max(a.dt / b.dt, b.dt / a.dt) < rule.maxDtRatio

function toFinding({ phase, otherShare, isPermanent }: Change, scene: Scene | undefined): Finding {
  const { column, first, last, steps, share, scale } = phase
  const value = (otherShare - share) * scale
  const run = { first, last, peak: first, frames: steps, bodies: [scene?.bodies[column] ?? 0], pair: null }
  return createFinding(
    { ...run, value, limit: 0 },
    {
      kind: value > 0 ? 'energy_drift' : 'dissipation_without_contact',
      severity: isPermanent ? 'warning' : 'error',
      unit: 'J',
      confidence: isPermanent ? 0.6 : 0.9,
      text: isPermanent
        ? `advances by the velocity ${describeShare(share)}, other bodies by that ${describeShare(otherShare)}`
        : `changes its integrator: it advances by the velocity ${describeShare(share)}, earlier by that ${describeShare(otherShare)}`,
    },
  )
}

function describeShare(share: number): string {
  if (share <= 0.25) return 'before each step'
  return share >= 0.75 ? 'after each step' : 'in the middle of each step'
}

/** Returns the share s; NaN unless gravity alone changes the velocity. */
export function measureVelocityShare(step: Step, column: number): number {
  const { scene, window, dt, displacement, touching, touchedBefore, hasExternal, joints } = step
  if (touching[column] === 1 || touchedBefore[column] === 1 || hasExternal[column] === 1) return Number.NaN
  if (joints.isJointed[column] === 1 || !(scene.g * dt > 0)) return Number.NaN
  const s = window.states.data
  const [at, previousAt] = [
    getOffset(step, column) + stateAt.velocity,
    getOffsetBefore(step, column) + stateAt.velocity,
  ]
  let [squaredDeviation, along] = [0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const [v, u, g] = [num(s, at + axis), num(s, previousAt + axis), scene.gravity[axis] ?? 0]
    squaredDeviation += (v - u - g * dt) ** 2
    along += (num(displacement, 3 * column + axis) / dt - (v + u) / 2) * g
  }
  const velocityError = num(step.errors.velocityChange, column)
  if (!(squaredDeviation <= (balanceTolerance.free * scene.g * dt + velocityError) ** 2)) return Number.NaN
  const error = (num(step.errors.displacement, column) / dt + velocityError / 2) / (scene.g * dt)
  if (error > rule.maxSpread / 2) return Number.NaN
  return 0.5 + along / (scene.g * scene.g * dt)
}
