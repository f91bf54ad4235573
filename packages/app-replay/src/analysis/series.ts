/** Series over a range of frames, and the frames that meet a condition, read in the worker of the recording. */
import type { Columns, FrameRange } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { evaluate, holds, type Predicate } from '../domain/predicate.ts'
import type { SeriesPlan } from '../domain/series-name.ts'
import { sampleOf } from '../domain/series-sample.ts'

/** Which series, over which frames. */
export interface SeriesArgs {
  readonly plans: readonly SeriesPlan[]
  readonly range: FrameRange
  /** frames that are read at most, the first of the range; default: all */
  readonly most?: number
}

/** Columns `frame_id`, `simulation_time`, then one for each plan, under its name. */
export async function series(
  { plans, range, most = Number.POSITIVE_INFINITY }: SeriesArgs,
  context: AnalysisContext,
): Promise<Columns> {
  const { windows, summary, signal, progress } = context
  const samples = plans.map((plan) => sampleOf(plan, summary))
  const values: number[] = []
  let length = 0
  for await (const window of windows.over(range, { signal, progress })) {
    if (length === most) break
    for (let row = window.from; row < window.to && length < most; row++) {
      values.push(window.frames[row] ?? Number.NaN, window.times[row] ?? Number.NaN)
      for (const sample of samples) values.push(sample(window, row))
      length += 1
    }
  }
  const fields = ['frame_id', 'simulation_time', ...plans.map(({ name }) => name)]
  return { fields, length, data: Float64Array.from(values) }
}

/** Consecutive frames that meet a condition; times in s. */
export interface FrameRun {
  readonly first_frame: number
  readonly last_frame: number
  readonly frames: number
  readonly first_time: number
  readonly last_time: number
}

/** Every run of frames of the range that meet the condition, in frame order. */
export async function search(
  { predicate, range }: { readonly predicate: Predicate; readonly range: FrameRange },
  { windows, summary, signal, progress }: AnalysisContext,
): Promise<{ readonly runs: readonly FrameRun[]; readonly searched: number }> {
  const samples = predicate.plans.map((plan) => sampleOf(plan, summary))
  const runs: FrameRun[] = []
  let searched = 0
  let isOpen = false
  for await (const window of windows.over(range, { signal, progress })) {
    for (let row = window.from; row < window.to; row++) {
      searched += 1
      const isMet = holds(
        evaluate(predicate.expression, (index) => samples[index]?.(window, row) ?? Number.NaN),
      )
      if (isMet) {
        const frame = window.frames[row] ?? Number.NaN
        const time = window.times[row] ?? Number.NaN
        const open = isOpen ? runs.pop() : undefined
        runs.push({
          first_frame: open?.first_frame ?? frame,
          last_frame: frame,
          frames: (open?.frames ?? 0) + 1,
          first_time: open?.first_time ?? time,
          last_time: time,
        })
      }
      isOpen = isMet
    }
  }
  return { runs, searched }
}
