import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { SampledSeriesArgs, sampleTrajectory } from '../analysis/sampled-series.ts'
import type { searchFrames } from '../analysis/series.ts'
import { listRecordedNames, nameBodies } from '../domain/bodies/body-names.ts'
import { createCursor, paginate, parseCursor } from '../domain/cursor.ts'
import { capitalize, formatCount, formatFrames, formatNumber, formatQuantity } from '../domain/sentence.ts'
import { getColumn } from '../domain/series/columns.ts'
import { parsePredicate } from '../domain/series/predicate.ts'
import { parseSeriesName } from '../domain/series/series-name.ts'
import { parseSeriesNames, readSampledSeries, readSeries } from '../session/series.ts'
import {
  defaultPoints,
  maxPoints,
  type RecordingCall,
  type Registration,
  recordingTool,
  runArguments,
} from './recording-tool.ts'

const pointArguments = {
  start_frame: runArguments.start_frame,
  end_frame: runArguments.end_frame,
  max_points: z.int().optional().describe('Maximum points'),
}

const trajectoryArguments = { body_id: z.int().describe('Body id'), ...pointArguments }

const clampPoints = (points = defaultPoints): number => Math.min(Math.max(points, 2), maxPoints)

/** The error for an unknown name explains the grammar. */
const seriesArgument = z
  .array(z.string())
  .describe('Such as energy.delta, body.2.speed, pair.2.floor.normal_force')

export const seriesTools: readonly Registration[] = [
  recordingTool('get_series', {
    title: 'Get series',
    about:
      'Return quantities over frames, or the path of a body: exact statistics and sampled points. Use plot for a picture.',
    searchHint: 'values, velocity, route flown',
    input: {
      series: seriesArgument.optional(),
      path_of: z.int().optional().describe('Body id, for its path'),
      ...pointArguments,
      cursor: runArguments.cursor,
    },
    widget: 'series',
    example: { args: { recording: 'slide_at_45', series: ['body.1.speed', 'energy.delta'], max_points: 10 } },
    async run({ series, path_of, max_points, cursor, ...bounds }, call) {
      if (path_of !== undefined && series === undefined)
        return readTrajectory({ body_id: path_of, max_points, ...bounds }, call)
      if (series === undefined || path_of !== undefined)
        throw new CausewayError('INVALID_ARGUMENTS', 'get_series takes either series or path_of', {
          data: { problems: [{ argument: 'series', problem: 'pass series or path_of' }] },
        })
      const plans = parseSeriesNames(series, call.recording)
      const range = call.range(bounds)
      const points = clampPoints(max_points)
      if (cursor !== undefined) {
        const pageRange = { ...range, start: Math.max(range.start ?? 0, parseCursor(cursor)) }
        return readSeriesPage({ plans, range: pageRange, limit: points }, call)
      }
      const args: SampledSeriesArgs = { plans, range, points, citedFrame: null }
      const { length, series: sampledSeries } = await readSampledSeries(call.recording, args, call.ctx)
      const descriptions = sampledSeries.map(
        ({ name, unit, min, max, min_frame, max_frame }) =>
          `${name} ${formatNumber(min)} (frame ${min_frame}) to ${formatQuantity(max, unit)} (frame ${max_frame})`,
      )
      const isTruncated = sampledSeries.some(({ truncated }) => truncated)
      return {
        series: sampledSeries.map(({ quantity, cited, ...wireSeries }) => wireSeries),
        next_cursor: isTruncated ? createCursor(range.start ?? 0) : null,
        summary: `${formatCount(length, 'frame')}: ${descriptions.join('; ')}.`,
      }
    },
  }),

  recordingTool('get_body_trajectory', {
    title: 'Get body trajectory',
    about: 'Return the path of a body: get_series with `path_of`.',
    unlisted: true,
    input: trajectoryArguments,
    example: { args: { recording: 'drop', body_id: 2, max_points: 10 } },
    run: readTrajectory,
  }),

  recordingTool('search_frames', {
    title: 'Search frames',
    about:
      'Find the frames that meet a condition, such as speed(2) > 1 and contact(1, 2) and not delta_e < -0.5.',
    searchHint: 'when is, which frames, above, below, filter',
    input: {
      predicate: z.string().describe('Condition'),
      ...pointArguments,
      cursor: runArguments.cursor,
    },
    example: { args: { recording: 'slide_at_45', predicate: 'speed(1) > 0.5 and contact(1, floor)' } },
    async run({ predicate: text, cursor, max_points, ...bounds }, { recording, range, ctx }) {
      const predicate = parsePredicate(text, (name) => parseSeriesName(name, recording.resolveBody))
      const args = { predicate, range: range(bounds) }
      const { runs, searched } = await recording.analyse<Awaited<ReturnType<typeof searchFrames>>>(
        'search',
        args,
        ctx,
      )
      const limit = clampPoints(max_points)
      const page = paginate(runs, ({ first_frame }) => first_frame, { cursor, limit })
      const frames = runs.reduce((sum, run) => sum + run.frames, 0)
      const [first] = runs
      return {
        predicate: text,
        runs: page.items,
        count: runs.length,
        frames,
        searched,
        truncated: page.items.length < runs.length,
        next_cursor: page.next_cursor,
        summary:
          first === undefined
            ? `None of ${formatCount(searched, 'frame')} meets the condition.`
            : `${formatCount(frames, 'frame')} of ${searched} in ${formatCount(runs.length, 'run')}. First: ${formatFrames(first.first_frame, first.last_frame)}.`,
      }
    },
  }),
]

async function readTrajectory(
  { body_id, max_points, ...bounds }: z.output<z.ZodObject<typeof trajectoryArguments>>,
  { recording, range, ctx }: RecordingCall,
) {
  const body = recording.resolveBody(body_id)
  const args = { body, range: range(bounds), points: clampPoints(max_points) }
  const { length, ...path } = await recording.analyse<Awaited<ReturnType<typeof sampleTrajectory>>>(
    'trajectory',
    args,
    ctx,
  )
  const { frames, max_speed, min_z } = path
  return {
    body_id: body,
    ...path,
    path_length_m: length.along,
    displacement_m: length.straight,
    summary: `${capitalize(nameBodies([body], listRecordedNames(recording.summary)))} travels ${formatQuantity(length.along, 'm')} in ${formatCount(frames, 'frame')}, ${formatQuantity(length.straight, 'm')} from start to end. Maximum speed ${formatQuantity(max_speed.value, 'm/s')} in frame ${max_speed.frame_id}, minimum z ${formatQuantity(min_z.value, 'm')} in frame ${min_z.frame_id}.`,
  }
}

async function readSeriesPage(
  { plans, range, limit }: Required<Parameters<typeof readSeries>[1]>,
  { recording, ctx }: RecordingCall,
) {
  const columns = await readSeries(recording, { plans, range, limit: limit + 1 }, ctx)
  const shownCount = Math.min(columns.length, limit)
  const listValues = (name: string): number[] => {
    const values = getColumn(columns, name)
    return Array.from({ length: shownCount }, (_, row) => values.get(row))
  }
  const frames = listValues('frame_id')
  const next = columns.length > limit ? getColumn(columns, 'frame_id').get(limit) : undefined
  return {
    series: plans.map(({ name, unit }) => ({
      name,
      unit,
      frames,
      values: listValues(name),
      truncated: false,
    })),
    next_cursor: next === undefined ? null : createCursor(next),
    summary:
      shownCount === 0
        ? 'There are no more frames.'
        : `Every value of ${formatFrames(frames[0] ?? 0, frames.at(-1) ?? 0)}${next === undefined ? ', the last page' : ''}.`,
  }
}
