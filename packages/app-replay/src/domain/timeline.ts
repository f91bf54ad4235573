/** What happens in a recording, as events in frame order. */
import { type BodyId, solverAt, stateAt, systemAt } from '@causeway/recording'
import { num } from './laws/component.ts'
import type { Step } from './laws/step.ts'
import type { Touch } from './laws/touch.ts'

/** Kinds of events. */
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

/** One of them. */
export type EventKind = (typeof eventKinds)[number]

/** Something that happens in a frame. `value` in `unit`: N·s of an impact, J, m, frames; null where there is nothing to measure. */
export interface TimelineEvent {
  readonly frame_id: number
  readonly kind: EventKind
  readonly bodies: readonly BodyId[]
  readonly value: number | null
  readonly unit: string | null
}

/** Collects events over steps in frame order. */
export interface Timeline {
  see(step: Step): void
  /** Every event in frame order, at most `most`; `count` is exact. */
  events(): { readonly events: readonly TimelineEvent[]; readonly count: number }
}

/** m/s along the normal, from which a new contact is an impact; share of the cone from which a contact slides. */
const eventRule = {
  impactSpeed: 0.2,
  sliding: 0.99,
  restFrames: 10,
  restSpeed: 0.01,
  deep: 1e-3,
} as const

/** Events kept at most. */
const most = 50_000

interface PairState {
  readonly touch: Touch
  isOpen: boolean
  isSliding: boolean
  /** m, deepest of the spell, and its frame */
  depth: number
  deepest: number
}

/** Makes an empty timeline. */
export function timeline(): Timeline {
  const found: TimelineEvent[] = []
  let count = 0
  const pairs = new Map<number, PairState>()
  const still = new Map<BodyId, number>()
  let isStalled = false

  const push = (
    frame_id: number,
    kind: EventKind,
    bodies: readonly BodyId[],
    measured?: { value: number; unit: string },
  ): void => {
    count += 1
    if (found.length >= most) return
    const value = measured && Number.isFinite(measured.value) ? Number(measured.value.toPrecision(6)) : null
    found.push({ frame_id, kind, bodies, value, unit: measured?.unit ?? null })
  }

  const endSpell = (pair: PairState, frame: number): void => {
    const bodies = [pair.touch.a, pair.touch.b]
    pair.isOpen = false
    if (pair.depth > eventRule.deep)
      push(pair.deepest, 'penetration_peak', bodies, { value: pair.depth, unit: 'm' })
    if (pair.isSliding) push(frame, 'sliding_stop', bodies)
    pair.isSliding = false
    push(frame, 'contact_end', bodies)
  }

  const seeTouch = (step: Step, touch: Touch): void => {
    const { frame } = step
    const bodies = [touch.a, touch.b]
    const pair = pairs.get(touch.key) ?? { touch, isOpen: false, isSliding: false, depth: 0, deepest: frame }
    pairs.set(touch.key, pair)
    if (!pair.isOpen) {
      pair.isOpen = true
      pair.depth = 0
      push(frame, 'contact_begin', bodies)
      if (Math.abs(touch.closing) > eventRule.impactSpeed) {
        const value = Math.hypot(...touch.impulse) * step.scene.impulseFactor(step.dt)
        push(frame, 'impact', bodies, touch.frictionRows > 0 ? { value, unit: 'N·s' } : undefined)
      }
    }
    if (touch.depth > pair.depth) {
      pair.depth = touch.depth
      pair.deepest = frame
    }
    const isSliding = touch.limit > 0 && Math.hypot(...touch.tangent) >= eventRule.sliding * touch.limit
    if (isSliding !== pair.isSliding) push(frame, isSliding ? 'sliding_start' : 'sliding_stop', bodies)
    pair.isSliding = isSliding
  }

  const seeRest = ({ scene, frame, window, at, touching }: Step): void => {
    const limit = eventRule.restSpeed + 1.05 * scene.g * scene.dt
    for (const [column, body] of scene.bodies.entries()) {
      const v = at(column) + stateAt.velocity
      const s = window.states.data
      const isSlow = Math.hypot(num(s, v), num(s, v + 1), num(s, v + 2)) < limit
      const frames = touching[column] === 1 && isSlow ? (still.get(body) ?? 0) + 1 : 0
      still.set(body, frames)
      if (frames === eventRule.restFrames) push(frame, 'rest', [body])
    }
  }

  return {
    see(step) {
      const { frame, window, row, touches } = step
      for (const pair of pairs.values()) if (pair.isOpen && pair.touch.frame < frame) endSpell(pair, frame)
      for (const touch of touches) seeTouch(step, touch)
      seeRest(step)
      const energy = row * systemAt.width
      if (!Number.isNaN(step.dt) && num(window.system.data, energy + systemAt.injection) === 1)
        push(frame, 'energy_injection', [], {
          value: num(window.system.data, energy + systemAt.delta),
          unit: 'J',
        })
      const solver = row * solverAt.width
      const isOff =
        num(window.solver.data, solver + solverAt.constraints) > 0 &&
        num(window.solver.data, solver + solverAt.converged) === 0
      if (isOff && !isStalled)
        push(frame, 'not_converged', [], {
          value: num(window.solver.data, solver + solverAt.residual),
          unit: 'residual',
        })
      isStalled = isOff
    },
    events: () => ({ events: found.toSorted((a, b) => a.frame_id - b.frame_id), count }),
  }
}
