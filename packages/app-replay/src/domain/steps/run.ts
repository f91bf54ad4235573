import type { BodyId } from '@causeway/recording'

export interface Subject {
  readonly bodies: readonly BodyId[]
  readonly pair: readonly [BodyId, BodyId] | null
}

export interface Run extends Subject {
  readonly first: number
  last: number
  peak: number
  /** Value at the peak, in the law's unit. */
  value: number
  limit: number
  frames: number
}

const maxRuns = 20_000

/** Frames must be added in order. */
export class RunCollector {
  readonly #gap: number
  readonly #open = new Map<string | number, { run: Run; excess: number }>()
  readonly #runs: Run[] = []

  /** Frames up to `gap` apart belong to one run. */
  constructor(gap = 1) {
    this.#gap = gap
  }

  /** `excess` determines the peak. Default: |value| / limit. */
  add(
    key: string | number,
    frame: number,
    {
      value,
      limit,
      excess = getRatio(value, limit),
    }: { readonly value: number; readonly limit: number; readonly excess?: number },
    subject: Subject,
  ): Run {
    const current = this.#open.get(key)
    if (current && frame - current.run.last <= this.#gap) {
      const { run } = current
      if (frame !== run.last) run.frames += 1
      run.last = frame
      if (excess > current.excess) {
        current.excess = excess
        Object.assign(run, { peak: frame, value, limit })
      }
      return run
    }
    const run: Run = { ...subject, first: frame, last: frame, peak: frame, value, limit, frames: 1 }
    if (this.#runs.length < maxRuns) this.#runs.push(run)
    this.#open.set(key, { run, excess })
    return run
  }

  get runs(): readonly Run[] {
    return this.#runs.toSorted((a, b) => a.first - b.first)
  }
}

const getRatio = (value: number, limit: number): number => {
  const size = Number.isNaN(value) ? Number.POSITIVE_INFINITY : Math.abs(value)
  return limit > 0 ? size / limit : size
}
