import { CausewayError } from '@causeway/protocol'
import type { Columns, FrameRange, Recording } from '@causeway/recording'
import type { CallOptions } from '@causeway/worker'
import type { SampledSeriesArgs, sampleSeries } from '../analysis/sampled-series.ts'
import type { SeriesArgs } from '../analysis/series.ts'
import { parseSeriesName, type SeriesPlan } from '../domain/series/series-name.ts'

const maxSeries = 8

/** Throws `INVALID_ARGUMENTS` for an unknown name, for no names, and for more than eight. */
export function parseSeriesNames(names: readonly string[], recording: Recording): SeriesPlan[] {
  if (names.length >= 1 && names.length <= maxSeries)
    return names.map((name) => parseSeriesName(name, recording.resolveBody))
  const problem = `takes 1 to ${maxSeries} names`
  throw new CausewayError('INVALID_ARGUMENTS', `series ${problem}`, {
    data: { problems: [{ argument: 'series', problem }] },
  })
}

export const readSeries = (recording: Recording, args: SeriesArgs, options: CallOptions): Promise<Columns> =>
  recording.analyse<Columns>('series', args, toCallOptions(options))

export const readSampledSeries = (recording: Recording, args: SampledSeriesArgs, options: CallOptions) =>
  recording.analyse<Awaited<ReturnType<typeof sampleSeries>>>('sampledSeries', args, toCallOptions(options))

export const readFrameTimes = (
  recording: Recording,
  options: CallOptions,
  range: FrameRange = { start: null, end: null },
) => readSeries(recording, { plans: [], range }, options)

const toCallOptions = ({ signal, progress }: CallOptions): CallOptions => ({ signal, progress })
