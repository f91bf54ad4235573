import { type BodyId, stateAt } from '@causeway/recording'
import { num } from '../steps/block.ts'
import { type Run, RunCollector } from '../steps/run.ts'

/** Ranges of the quantities of a state. Each is recorded completely or not at all. */
const quantities = [
  { from: stateAt.position, to: stateAt.velocity },
  { from: stateAt.velocity, to: stateAt.orientation },
  { from: stateAt.orientation, to: stateAt.spin },
  { from: stateAt.spin, to: stateAt.width },
] as const

/** Returns the numbers of a range as bits. */
const toBits = ({ from, to }: { readonly from: number; readonly to: number }): number => 2 ** to - 2 ** from
const everything = toBits({ from: 0, to: stateAt.width })

/**
 * Finds runs of states with missing numbers. If positions were recorded, a velocity, orientation or spin that no body has
 * in any frame is not a fault: the engine never sent it.
 */
export class AbsentNumbers {
  /** By body and missing numbers. */
  readonly #runs = new RunCollector()
  readonly #absentByRun = new Map<Run, number>()
  #recorded = 0

  /** Whether every quantity was recorded at least once. From then on, complete states need not be added. */
  get hasEverything(): boolean {
    return this.#recorded === everything
  }

  /** Adds the state of a body in a frame. `at` is its offset. */
  add(states: Float64Array, at: number, body: BodyId, frame: number): void {
    let [absent, known] = [0, 0]
    for (let i = 0; i < stateAt.width; i++) {
      const value = num(states, at + i)
      if (!Number.isFinite(value)) absent += 2 ** i
      if (!Number.isNaN(value)) known += 2 ** i
    }
    for (const quantity of quantities)
      if ((known & toBits(quantity)) !== 0) this.#recorded |= toBits(quantity)
    if (absent === 0) return
    const key = 2 ** stateAt.width * body + absent
    const measured = { value: countBits(absent), limit: 0 }
    const run = this.#runs.add(key, frame, measured, { bodies: [body], pair: null })
    this.#absentByRun.set(run, absent)
  }

  /** The runs of each body. Quantities that were never recorded do not count. */
  get runs(): readonly Run[] {
    const [position] = quantities
    const expected = (this.#recorded & toBits(position)) === 0 ? everything : this.#recorded
    const joined: Run[] = []
    const latest = new Map<BodyId | undefined, Run>()
    for (const run of this.#runs.runs) {
      const value = countBits((this.#absentByRun.get(run) ?? 0) & expected)
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
  }
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest > 0; rest &= rest - 1) count += 1
  return count
}
