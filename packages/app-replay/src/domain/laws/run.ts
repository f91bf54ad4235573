/** Consecutive frames in which the same thing is wrong, as one run. */
import type { BodyId } from '@causeway/recording'

/** What a run is about: bodies, and the pair where it is one of a contact. */
export interface Subject {
  readonly bodies: readonly BodyId[]
  readonly pair: readonly [BodyId, BodyId] | null
}

/** Frames without a break in which a law is broken. */
export interface Run extends Subject {
  readonly first: number
  last: number
  /** frame of the greatest excess */
  peak: number
  /** value at the peak, in the unit of the law */
  value: number
  /** what the law allows there */
  limit: number
  /** frames of the run in which the law is broken */
  frames: number
  /** sum of the values, for what adds up */
  sum: number
}

/** Collects runs by key; frames come in order. */
export interface RunCollector {
  /** A frame in which `value` breaks `limit`; `excess` decides the peak and is |value| / limit by default. */
  hit(
    key: string | number,
    frame: number,
    measured: { value: number; limit: number; excess?: number },
    subject: Subject,
  ): Run
  /** Every run in order of its first frame, the greatest excess first among equals. */
  all(): readonly Run[]
  /** exact number of runs, those beyond the cap included */
  readonly count: number
}

/** Runs kept at most; more are counted. */
const mostRuns = 20_000

/** Makes a collector; frames up to `gap` apart belong to one run. */
export function collectRuns(gap = 1): RunCollector {
  const open = new Map<string | number, { run: Run; excess: number }>()
  const runs: Run[] = []
  let count = 0
  return {
    get count() {
      return count
    },
    hit(key, frame, { value, limit, excess = ratio(value, limit) }, subject) {
      const current = open.get(key)
      if (current && frame - current.run.last <= gap) {
        const { run } = current
        if (frame !== run.last) run.frames += 1
        run.last = frame
        run.sum += value
        if (excess > current.excess) {
          current.excess = excess
          run.peak = frame
          run.value = value
          run.limit = limit
        }
        return run
      }
      const run: Run = {
        ...subject,
        first: frame,
        last: frame,
        peak: frame,
        value,
        limit,
        frames: 1,
        sum: value,
      }
      count += 1
      if (runs.length < mostRuns) runs.push(run)
      open.set(key, { run, excess })
      return run
    },
    all: () => runs.toSorted((a, b) => a.first - b.first),
  }
}

const ratio = (value: number, limit: number): number => {
  const size = Number.isNaN(value) ? Number.POSITIVE_INFINITY : Math.abs(value)
  return limit > 0 ? size / limit : size
}
