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
const allBits = toBits({ from: 0, to: stateAt.width })

/** Reports missing numbers of quantities that a body has in other frames; of all quantities if it lacks positions. */
export class AbsentNumbers {
  /** Grouped by body and missing numbers. */
  readonly #runs = new RunCollector()
  readonly #absentByRun = new Map<Run, number>()
  /** Bit mask of the quantities recorded so far, by body. */
  readonly #recordedBits = new Map<BodyId, number>()

  /** Whether every quantity has been recorded, so that `add` can be skipped for complete states. */
  hasEverything(body: BodyId): boolean {
    return this.#recordedBits.get(body) === allBits
  }

  add(states: Float64Array, at: number, body: BodyId, frame: number): void {
    let [absentBits, knownBits] = [0, 0]
    for (let i = 0; i < stateAt.width; i++) {
      const value = num(states, at + i)
      if (!Number.isFinite(value)) absentBits += 2 ** i
      if (!Number.isNaN(value)) knownBits += 2 ** i
    }
    let recorded = this.#recordedBits.get(body) ?? 0
    for (const quantity of quantities) if ((knownBits & toBits(quantity)) !== 0) recorded |= toBits(quantity)
    this.#recordedBits.set(body, recorded)
    if (absentBits === 0) return
    const key = 2 ** stateAt.width * body + absentBits
    const values = { value: countBits(absentBits), limit: 0 }
    const run = this.#runs.add(key, frame, values, { bodies: [body], pair: null })
    this.#absentByRun.set(run, absentBits)
  }

  get runs(): readonly Run[] {
    const joinedRuns: Run[] = []
    const lastRunByBody = new Map<BodyId | undefined, Run>()
    for (const run of this.#runs.runs) {
      const [body] = run.bodies
      const value = countBits((this.#absentByRun.get(run) ?? 0) & this.#getExpectedBits(body))
      if (value === 0) continue
      const before = lastRunByBody.get(body)
      if (before !== undefined && run.first === before.last + 1) {
        before.last = run.last
        before.frames += run.frames
        if (value > before.value) Object.assign(before, { value, peak: run.first })
        continue
      }
      const next = { ...run, value }
      lastRunByBody.set(body, next)
      joinedRuns.push(next)
    }
    return joinedRuns
  }

  #getExpectedBits(body: BodyId | undefined): number {
    const recorded = body === undefined ? 0 : (this.#recordedBits.get(body) ?? 0)
    return (recorded & toBits(quantities[0])) === 0 ? allBits : recorded
  }
}

function countBits(bits: number): number {
  let count = 0
  for (let remaining = bits; remaining > 0; remaining &= remaining - 1) count += 1
  return count
}
