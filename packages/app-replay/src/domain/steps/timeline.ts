import { type BodyId, solverAt, stateAt, systemAt } from '@causeway/recording'
import { getOffset, num } from './block.ts'
import { getImpulseFactor } from './scene.ts'
import { hasConstraints } from './solver-stall.ts'
import type { Step } from './step.ts'
import type { Touch } from './touch.ts'

export const eventKinds = [
  'contact_begin',
  'contact_end',
  'impact',
  'rest',
  'sliding_start',
  'sliding_stop',
  'energy_injection',
  'not_converged',
  'penetration_peak',
  'tunnelling',
] as const

type EventKind = (typeof eventKinds)[number]

/** `value` is in `unit`; `null` if nothing was measured. */
export interface TimelineEvent {
  readonly frame_id: number
  readonly kind: EventKind
  readonly bodies: readonly BodyId[]
  readonly value: number | null
  readonly unit: string | null
}

/** Minimum speed along the normal, m/s. */
const minImpactSpeed = 0.2

/** Ratio of friction to its limit above which a contact slides. */
const slidingShare = 0.99

/** Number of contact frames below `maxRestSpeed` (m/s) plus g dt after which a body is at rest. */
const minRestFrames = 10
const maxRestSpeed = 0.01

/** m */
const minReportedDepth = 1e-3

const maxEvents = 50_000

interface PairState {
  readonly touch: Touch
  isOpen: boolean
  isSliding: boolean
  /** Maximum depth of the current contact in m, and its frame. */
  depth: number
  deepestFrame: number
}

export class Timeline {
  readonly #events: TimelineEvent[] = []
  readonly #pairs = new Map<number, PairState>()
  readonly #restFrames = new Map<BodyId, number>()
  #isStalled = false

  observe(step: Step): void {
    for (const pair of this.#pairs.values())
      if (pair.isOpen && pair.touch.frame < step.frame) this.#endContact(pair, step.frame)
    for (const touch of step.touches) this.#observeTouch(step, touch)
    this.#observeRest(step)
    this.#observeEnergy(step)
    this.#observeSolver(step)
  }

  get events(): readonly TimelineEvent[] {
    return this.#events.toSorted((a, b) => a.frame_id - b.frame_id)
  }

  #add(
    frame_id: number,
    kind: EventKind,
    bodies: readonly BodyId[],
    measured?: { readonly value: number; readonly unit: string },
  ): void {
    if (this.#events.length >= maxEvents) return
    const value = measured && Number.isFinite(measured.value) ? Number(measured.value.toPrecision(6)) : null
    this.#events.push({ frame_id, kind, bodies, value, unit: measured?.unit ?? null })
  }

  #endContact(pair: PairState, frame: number): void {
    const bodies = [pair.touch.a, pair.touch.b]
    if (pair.depth > minReportedDepth)
      this.#add(pair.deepestFrame, 'penetration_peak', bodies, { value: pair.depth, unit: 'm' })
    if (pair.isSliding) this.#add(frame, 'sliding_stop', bodies)
    this.#add(frame, 'contact_end', bodies)
    pair.isOpen = false
    pair.isSliding = false
  }

  #observeTouch({ frame, scene, dt }: Step, touch: Touch): void {
    const bodies = [touch.a, touch.b]
    const initialState = { touch, isOpen: false, isSliding: false, depth: 0, deepestFrame: frame }
    const pair = this.#pairs.get(touch.key) ?? initialState
    this.#pairs.set(touch.key, pair)
    if (!pair.isOpen) {
      pair.isOpen = true
      pair.depth = 0
      this.#add(frame, 'contact_begin', bodies)
      if (Math.abs(touch.closingSpeed) > minImpactSpeed) {
        const value = Math.hypot(...touch.impulse) * getImpulseFactor(scene, dt)
        this.#add(frame, 'impact', bodies, touch.frictionRows > 0 ? { value, unit: 'N·s' } : undefined)
      }
    }
    if (touch.depth > pair.depth) {
      pair.depth = touch.depth
      pair.deepestFrame = frame
    }
    const isSliding = touch.limit > 0 && Math.hypot(...touch.tangent) >= slidingShare * touch.limit
    if (isSliding !== pair.isSliding) this.#add(frame, isSliding ? 'sliding_start' : 'sliding_stop', bodies)
    pair.isSliding = isSliding
  }

  #observeRest(step: Step): void {
    const { scene, frame, window, touching } = step
    const limit = maxRestSpeed + (1.05 * scene.g * scene.dt || 0)
    const states = window.states.data
    for (const [column, body] of scene.bodies.entries()) {
      const v = getOffset(step, column) + stateAt.velocity
      const isSlow = Math.hypot(num(states, v), num(states, v + 1), num(states, v + 2)) < limit
      const frames = touching[column] === 1 && isSlow ? (this.#restFrames.get(body) ?? 0) + 1 : 0
      this.#restFrames.set(body, frames)
      if (frames === minRestFrames) this.#add(frame, 'rest', [body])
    }
  }

  #observeEnergy({ frame, window, row, dt }: Step): void {
    const at = row * systemAt.width
    const system = window.system.data
    if (Number.isNaN(dt) || num(system, at + systemAt.injection) !== 1) return
    this.#add(frame, 'energy_injection', [], { value: num(system, at + systemAt.delta), unit: 'J' })
  }

  #observeSolver(step: Step): void {
    const { frame, window, row } = step
    const at = row * solverAt.width
    const solver = window.solver.data
    const isStalled = hasConstraints(step) && num(solver, at + solverAt.converged) === 0
    if (isStalled && !this.#isStalled)
      this.#add(frame, 'not_converged', [], { value: num(solver, at + solverAt.residual), unit: 'residual' })
    this.#isStalled = isStalled
  }
}
