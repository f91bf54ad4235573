import { type BodyId, stateAt } from '@causeway/recording'
import { num } from '../steps/block.ts'
import { type Run, RunCollector } from '../steps/run.ts'

/** Quantities that are recorded completely or not at all. */
const quantities = [
  { from: stateAt.position, to: stateAt.velocity },
  { from: stateAt.velocity, to: stateAt.orientation },
  { from: stateAt.orientation, to: stateAt.spin },
  { from: stateAt.spin, to: stateAt.width },
] as const

const toBits = ({ from, to }: { readonly from: number; readonly to: number }): number => 2 ** to - 2 ** from
const everything = toBits({ from: 0, to: stateAt.width })

/** Reports missing numbers of quantities that the body has in other frames; all if it never has positions. */
export class AbsentNumbers {
  /** Grouped by body and missing numbers. */
  readonly #runs = new RunCollector()
  readonly #absentByRun = new Map<Run, number>()
  /** Bit mask of the quantities recorded so far, by body. */
  readonly #recorded = new Map<BodyId, number>()

  /** Whether every quantity was recorded. Complete states then need not be added. */
  hasEverything(body: BodyId): boolean {
    return this.#recorded.get(body) === everything
  }

  add(states: Float64Array, at: number, body: BodyId, frame: number): void {
    let [absent, known] = [0, 0]
    for (let i = 0; i < stateAt.width; i++) {
      const value = num(states, at + i)
      if (!Number.isFinite(value)) absent += 2 ** i
      if (!Number.isNaN(value)) known += 2 ** i
    }
    let recorded = this.#recorded.get(body) ?? 0
    for (const quantity of quantities) if ((known & toBits(quantity)) !== 0) recorded |= toBits(quantity)
    this.#recorded.set(body, recorded)
    if (absent === 0) return
    const key = 2 ** stateAt.width * body + absent
    const measured = { value: countBits(absent), limit: 0 }
    const run = this.#runs.add(key, frame, measured, { bodies: [body], pair: null })
    this.#absentByRun.set(run, absent)
  }

  get runs(): readonly Run[] {
    const joined: Run[] = []
    const latest = new Map<BodyId | undefined, Run>()
    for (const run of this.#runs.runs) {
      const [body] = run.bodies
      const value = countBits((this.#absentByRun.get(run) ?? 0) & this.#expected(body))
      if (value === 0) continue
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

  #expected(body: BodyId | undefined): number {
    const recorded = body === undefined ? 0 : (this.#recorded.get(body) ?? 0)
    return (recorded & toBits(quantities[0])) === 0 ? everything : recorded
  }
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest > 0; rest &= rest - 1) count += 1
  return count
}
