/**
 * Numbers that are absent from the states of bodies.
 *
 * A quantity that an engine never sends is not known, and no fault: where positions are there, a velocity, an orientation
 * or a spin that no body has in any frame is left out.
 */
import { type BodyId, stateAt } from '@causeway/recording'
import { num } from './component.ts'
import { collectRuns, type Run } from './run.ts'

/** Where the quantities of a state begin and end; each is sent as a whole or not at all. */
const quantities = [
  { from: stateAt.position, to: stateAt.velocity },
  { from: stateAt.velocity, to: stateAt.orientation },
  { from: stateAt.orientation, to: stateAt.spin },
  { from: stateAt.spin, to: stateAt.width },
] as const

/** The numbers of a state as bits; those of a quantity, and of them all. */
const bitsOf = ({ from, to }: { readonly from: number; readonly to: number }): number => 2 ** to - 2 ** from
const everything = bitsOf({ from: 0, to: stateAt.width })

/** Collects runs of states with numbers that are absent. */
export interface AbsentNumbers {
  /** True once every quantity was sent: then a state with all its numbers need not be looked at. */
  readonly areAllSent: boolean
  /** Looks at the state of a body in a frame. */
  see(states: Float64Array, at: number, body: BodyId, frame: number): void
  /** The runs of each body, without the numbers that nobody ever sent. */
  all(): readonly Run[]
}

/** Makes the collector. */
export function absentNumbers(): AbsentNumbers {
  /** runs in which the same numbers of a body are absent, by body and those numbers */
  const runs = collectRuns()
  const absentIn = new Map<Run, number>()
  let sent = 0
  return {
    get areAllSent() {
      return sent === everything
    },
    see(states, at, body, frame) {
      let [absent, known] = [0, 0]
      for (let i = 0; i < stateAt.width; i++) {
        const value = num(states, at + i)
        if (!Number.isFinite(value)) absent += 2 ** i
        if (!Number.isNaN(value)) known += 2 ** i
      }
      for (const quantity of quantities) if ((known & bitsOf(quantity)) !== 0) sent |= bitsOf(quantity)
      if (absent === 0) return
      const measured = { value: countBits(absent), limit: 0 }
      const run = runs.hit(2 ** stateAt.width * body + absent, frame, measured, {
        bodies: [body],
        pair: null,
      })
      absentIn.set(run, absent)
    },
    all() {
      const [position] = quantities
      const meant = (sent & bitsOf(position)) === 0 ? everything : sent
      const joined: Run[] = []
      const latest = new Map<BodyId | undefined, Run>()
      for (const run of runs.all()) {
        const value = countBits((absentIn.get(run) ?? 0) & meant)
        if (value === 0) continue
        const [body] = run.bodies
        const before = latest.get(body)
        if (before !== undefined && run.first === before.last + 1) {
          before.last = run.last
          before.frames += run.frames
          if (value > before.value) Object.assign(before, { value, peak: run.first })
          continue
        }
        const next = { ...run, value }
        latest.set(body, next)
        joined.push(next)
      }
      return joined
    },
  }
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest > 0; rest &= rest - 1) count += 1
  return count
}
