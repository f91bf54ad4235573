import type { Columns, FrameRange } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { evaluate, isTruthy, type Predicate } from '../domain/series/predicate.ts'
import type { SeriesPlan } from '../domain/series/series-name.ts'
import { createSampler, selectColumns } from '../domain/series/series-sample.ts'

export interface SeriesArgs {
  readonly plans: readonly SeriesPlan[]
  readonly range: FrameRange
  /** Maximum number of frames, from the start of the range. Default: all. */
  readonly limit?: number
}

/** Returns the columns `frame_id` and `simulation_time`, then one per plan, under the plan's name. */
export async function readSeries(
  { plans, range, limit = Number.POSITIVE_INFINITY }: SeriesArgs,
  context: AnalysisContext,
): Promise<Columns> {
  const { windows, summary, signal, progress } = context
  const samplers = plans.map((plan) => createSampler(plan, summary))
  const values: number[] = []
  let length = 0
  for await (const window of windows.over(range, { signal, progress }, selectColumns(plans))) {
    if (length === limit) break
    for (let row = window.from; row < window.to && length < limit; row++) {
      values.push(window.frames[row] ?? Number.NaN, window.times[row] ?? Number.NaN)
      for (const sample of samplers) values.push(sample(window, row))
      length += 1
    }
  }
  const fields = ['frame_id', 'simulation_time', ...plans.map(({ name }) => name)]
  return { fields, length, data: Float64Array.from(values) }
}

/** Times are in s. */
interface FrameRun {
  readonly first_frame: number
  readonly last_frame: number
  readonly frames: number
  readonly first_time: number
  readonly last_time: number
}

export async function searchFrames(
  { predicate, range }: { readonly predicate: Predicate; readonly range: FrameRange },
  { windows, summary, signal, progress }: AnalysisContext,
): Promise<{ readonly runs: readonly FrameRun[]; readonly searched: number }> {
  const samples = predicate.plans.map((plan) => createSampler(plan, summary))
  const runs: FrameRun[] = []
  let searched = 0
  let isOpen = false
  const selection = selectColumns(predicate.plans)
  for await (const window of windows.over(range, { signal, progress }, selection)) {
    for (let row = window.from; row < window.to; row++) {
      searched += 1
      const isMet = isTruthy(
        evaluate(predicate.expression, (index) => samples[index]?.(window, row) ?? Number.NaN),
      )
      if (isMet) {
        const frame = window.frames[row] ?? Number.NaN
        const time = window.times[row] ?? Number.NaN
        const openRun = isOpen ? runs.pop() : undefined
        runs.push({
          first_frame: openRun?.first_frame ?? frame,
          last_frame: frame,
          frames: (openRun?.frames ?? 0) + 1,
          first_time: openRun?.first_time ?? time,
          last_time: time,
        })
      }
      isOpen = isMet
    }
  }
  return { runs, searched }
}
