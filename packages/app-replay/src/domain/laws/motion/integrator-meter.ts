/**
 * Law `free_energy`, changes of the integrator. In a free step, a position advances by (u + s (v - u)) dt, where u
 * and v are the velocities before and after the step. The share s is 0 for explicit Euler and 1 for semi-implicit
 * Euler. It depends neither on the force nor on dt.
 */
import { stateAt } from '@causeway/recording'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { getOffset, getOffsetBefore, num } from '../../steps/block.ts'
import type { Scene } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import { balanceTolerance } from './body-balance.ts'

/**
 * A share is constant if it stays within `spread` for `steps`. Two integrators differ by at least `change`. A frame
 * of k substeps has a share of 1/2 + 1 / 2k. It changes by less than `change` if dt, and with it k, changes by less
 * than `dtRatio`.
 */
const rule = { steps: 10, spread: 0.05, change: 0.4, dtRatio: 2, explicit: 0.1 } as const

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
  readonly from: number
  readonly isAlways: boolean
}

export class IntegratorMeter {
  readonly #open: (Phase | undefined)[] = []
  /** First constant phase of each column. */
  readonly #usual: (Phase | undefined)[] = []
  readonly #changes: Change[] = []
  #scene: Scene | undefined

  add(step: Step, column: number): void {
    const share = measureShare(step, column)
    if (Number.isNaN(share)) return
    const { frame, dt, scene } = step
    this.#scene = scene
    const scale = num(scene.masses, column) * (scene.g * dt) ** 2
    const phase = this.#open[column]
    if (phase === undefined || !(Math.abs(share - phase.share) <= rule.spread)) {
      this.#open[column] = { column, first: frame, last: frame, steps: 1, share, dt, scale }
      return
    }
    phase.steps += 1
    phase.last = frame
    phase.share += (share - phase.share) / phase.steps
    phase.dt += (dt - phase.dt) / phase.steps
    phase.scale += scale
    if (phase.steps === rule.steps) this.#judge(phase)
  }

  #judge(phase: Phase): void {
    // Other shares gain or lose more than any integrator.
    if (!(Math.abs(phase.share - 0.5) <= 0.5 + rule.spread)) return
    const usual = this.#usual[phase.column]
    if (usual === undefined) this.#usual[phase.column] = phase
    else if (isOther(phase, usual)) this.#changes.push({ phase, from: usual.share, isAlways: false })
  }

  get findings(): readonly Finding[] {
    return [...this.#changes, ...this.#findExplicit()].map((change) => toFinding(change, this.#scene))
  }

  /** Returns bodies that always gain energy, while at least as many others do not. */
  #findExplicit(): readonly Change[] {
    const changed = new Set(this.#changes.map(({ phase }) => phase.column))
    const constant = this.#usual.flatMap((phase) =>
      phase === undefined || changed.has(phase.column) ? [] : [phase],
    )
    const explicit = constant.filter(({ share }) => share <= rule.explicit)
    return explicit.flatMap((phase) => {
      const others = constant.filter((other) => isOther(phase, other))
      const [other] = others
      return other === undefined || others.length < explicit.length
        ? []
        : [{ phase, from: other.share, isAlways: true }]
    })
  }
}

const isOther = (a: Phase, b: Phase): boolean =>
  Math.abs(a.share - b.share) >= rule.change && Math.max(a.dt / b.dt, b.dt / a.dt) < rule.dtRatio

function toFinding({ phase, from, isAlways }: Change, scene: Scene | undefined): Finding {
  const { column, first, last, steps, share, scale } = phase
  const value = (from - share) * scale
  const run = { first, last, peak: first, frames: steps, bodies: [scene?.bodies[column] ?? 0], pair: null }
  return createFinding(
    { ...run, value, limit: 0 },
    {
      kind: value > 0 ? 'energy_drift' : 'dissipation_without_contact',
      severity: isAlways ? 'warning' : 'error',
      unit: 'J',
      confidence: isAlways ? 0.6 : 0.9,
      text: isAlways
        ? `advances by the velocity ${describeShare(share)}, other bodies by that ${describeShare(from)}`
        : `changes its integrator: it advances by the velocity ${describeShare(share)}, earlier by that ${describeShare(from)}`,
    },
  )
}

function describeShare(share: number): string {
  if (share <= 0.25) return 'before each step'
  return share >= 0.75 ? 'after each step' : 'in the middle of each step'
}

/** Returns the share s; NaN unless gravity alone changes the velocity. */
export function measureShare(step: Step, column: number): number {
  const { scene, window, dt, displacement, touching, touchedBefore, hasExternal, joints } = step
  if (touching[column] === 1 || touchedBefore[column] === 1 || hasExternal[column] === 1) return Number.NaN
  if (joints.isJointed[column] === 1 || !(scene.g * dt > 0)) return Number.NaN
  const s = window.states.data
  const [at, was] = [
    getOffset(step, column) + stateAt.velocity,
    getOffsetBefore(step, column) + stateAt.velocity,
  ]
  let [off, along] = [0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const [v, u, g] = [num(s, at + axis), num(s, was + axis), scene.gravity[axis] ?? 0]
    off += (v - u - g * dt) ** 2
    along += (num(displacement, 3 * column + axis) / dt - (v + u) / 2) * g
  }
  const changed = num(step.errors.velocityChange, column)
  if (!(off <= (balanceTolerance.free * scene.g * dt + changed) ** 2)) return Number.NaN
  const error = (num(step.errors.displacement, column) / dt + changed / 2) / (scene.g * dt)
  if (error > rule.spread / 2) return Number.NaN
  return 0.5 + along / (scene.g * scene.g * dt)
}
