/** Any quantity over frames: its values, the path of a body, and the frames that meet a condition. */
import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Columns, FrameRange, Recording } from '@causeway/recording'
import type { CallOptions } from '@causeway/worker'
import { z } from 'zod'
import type { FrameRun, SeriesArgs } from '../analysis/series.ts'
import type { ShownSeriesArgs, shownSeries, trajectory } from '../analysis/shown-series.ts'
import { column } from '../domain/columns.ts'
import { cursorAt, page, positionOf } from '../domain/cursor.ts'
import { frameRange } from '../domain/frame-range.ts'
import { type Predicate, parsePredicate } from '../domain/predicate.ts'
import { count, quantity, readable } from '../domain/sentence.ts'
import { parseSeriesName, type SeriesPlan } from '../domain/series-name.ts'
import { opened, type ReplayContext, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { defaultPoints, hints, recordingArgument, runArguments, stamp } from './shape.ts'

/** Bounds in fewer words than the original tools have, and how many points: listings are paid for by the byte. */
const part = {
  start_frame: runArguments.start_frame,
  end_frame: runArguments.end_frame,
  max_points: z.int().optional().describe('most points'),
}

/** Points of a series in one answer. */
const mostPoints = 2000

const shownOf = (points = defaultPoints): number => Math.min(Math.max(points, 2), mostPoints)

/** Series of one call. */
const mostSeries = 8

/** Names of series; their grammar is told by the error of a wrong one. */
export const seriesArgument = z
  .array(z.string())
  .describe('energy.delta, body.2.speed, pair.2.floor.normal_force, …')

/** The series of these names; throws `INVALID_ARGUMENTS` for none, for more than eight and for unknown ones. */
export function plansOf(names: readonly string[], recording: Recording): SeriesPlan[] {
  if (names.length >= 1 && names.length <= mostSeries)
    return names.map((name) => parseSeriesName(name, recording.resolveBody))
  const problem = `takes 1 to ${mostSeries} names`
  throw new CausewayError('INVALID_ARGUMENTS', `series ${problem}`, {
    data: { problems: [{ argument: 'series', problem }] },
  })
}

/** The series of these plans, over the range, in the worker of the recording. */
export async function readSeries(
  recording: Recording,
  plans: readonly SeriesPlan[],
  range: FrameRange,
  ctx: ReplayContext,
): Promise<Columns> {
  const args: SeriesArgs = { plans, range }
  return recording.analyse<Columns>('series', args, looking(ctx))
}

/** The same in few points, with totals. */
export const readShown = (recording: Recording, args: ShownSeriesArgs, ctx: ReplayContext) =>
  recording.analyse<Awaited<ReturnType<typeof shownSeries>>>('shownSeries', args, looking(ctx))

const looking = (ctx: ReplayContext): CallOptions => ({
  signal: ctx.signal,
  progress: (...told) => ctx.progress(...told),
})

/** Every value of the series from a frame on, in frame order, and where they go on. */
async function seriesPage(
  recording: Recording,
  { plans, range, most }: Required<SeriesArgs>,
  ctx: ReplayContext,
): Promise<{
  readonly series: readonly object[]
  readonly next_cursor: string | null
  readonly summary: string
}> {
  const args: SeriesArgs = { plans, range, most: most + 1 }
  const columns = await recording.analyse<Columns>('series', args, looking(ctx))
  const shown = Math.min(columns.length, most)
  const valuesOf = (name: string): number[] => {
    const values = column(columns, name)
    return Array.from({ length: shown }, (_, row) => values.get(row))
  }
  const frames = valuesOf('frame_id')
  const next = columns.length > most ? column(columns, 'frame_id').get(most) : undefined
  return {
    series: plans.map(({ name, unit }) => ({ name, unit, frames, values: valuesOf(name), truncated: false })),
    next_cursor: next === undefined ? null : cursorAt(next),
    summary:
      shown === 0
        ? 'No frames from there on.'
        : `Every value of frames ${frames[0]} to ${frames.at(-1)}${next === undefined ? ', the last ones' : ''}.`,
  }
}

/** Declares get_series, get_body_trajectory and search_frames. */
export function seriesTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('get_series', {
    about: 'Quantities over frames: exact totals and points; by next_cursor every value.',
    hints,
    input: { series: seriesArgument, ...part, cursor: runArguments.cursor, ...recordingArgument },
    output: stamp,
    example: { args: { recording: 'slide_at_45', series: ['body.1.speed', 'energy.delta'], max_points: 10 } },
    async run({ series, max_points, cursor, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const plans = plansOf(series, recording)
      const range = frameRange(bounds, recording.summary.frames)
      if (cursor !== undefined) {
        const from = { ...range, start: Math.max(range.start ?? 0, positionOf(cursor)) }
        return {
          ...stamp,
          ...(await seriesPage(recording, { plans, range: from, most: shownOf(max_points) }, ctx)),
        }
      }
      const args: ShownSeriesArgs = { plans, range, points: shownOf(max_points), cite: null }
      const { length, series: found } = await readShown(recording, args, ctx)
      const each = found.map(({ quantity, cited, ...shown }) => shown)
      const told = each.map(
        ({ name, unit, min, max, min_frame, max_frame }) =>
          `${name} ${readable(min)} (frame ${min_frame}) to ${readable(max)}${unit === '' ? '' : ` ${unit}`} (frame ${max_frame})`,
      )
      const next_cursor = each.some(({ truncated }) => truncated) ? cursorAt(range.start ?? 0) : null
      return {
        ...stamp,
        series: each,
        next_cursor,
        summary: `${count(length, 'frame')}: ${told.join('; ')}.`,
      }
    },
  })

  app.tool('get_body_trajectory', {
    about: 'Path of a body: points, length, greatest speed, lowest z.',
    hints,
    input: { body_id: z.int().describe('body id'), ...part, ...recordingArgument },
    output: stamp,
    example: { args: { recording: 'drop', body_id: 2, max_points: 10 } },
    async run({ body_id, max_points, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const body = recording.resolveBody(body_id)
      const range = frameRange(bounds, recording.summary.frames)
      const { length, ...path } = await recording.analyse<Awaited<ReturnType<typeof trajectory>>>(
        'trajectory',
        { body, range, points: shownOf(max_points) },
        looking(ctx),
      )
      const { frames, max_speed, min_z } = path
      return {
        ...stamp,
        body_id: body,
        ...path,
        path_length_m: length.along,
        displacement_m: length.straight,
        summary: `Body ${body} travels ${quantity(length.along, 'm')} in ${count(frames, 'frame')}, ${quantity(length.straight, 'm')} from start to end; fastest ${quantity(max_speed.value, 'm/s')} in frame ${max_speed.frame_id}, lowest z ${quantity(min_z.value, 'm')} in frame ${min_z.frame_id}.`,
      }
    },
  })

  app.tool('search_frames', {
    about: 'Runs of frames in which, for example, speed(2) > 1 and contact(1,2) and not delta_e < -0.5.',
    hints,
    input: {
      predicate: z.string().describe('series; f(body), f(body, floor)'),
      ...part,
      cursor: runArguments.cursor,
      ...recordingArgument,
    },
    output: stamp,
    example: { args: { recording: 'slide_at_45', predicate: 'speed(1) > 0.5 and contact(1, floor)' } },
    async run({ predicate, cursor, max_points, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const parsed = parsePredicate(predicate, (name) => parseSeriesName(name, recording.resolveBody))
      const range = frameRange(bounds, recording.summary.frames)
      const { runs, searched } = await findRuns(recording, parsed, range, ctx)
      const part = page(runs, ({ first_frame }) => first_frame, {
        cursor,
        limit: shownOf(max_points),
      })
      const frames = runs.reduce((sum, run) => sum + run.frames, 0)
      const [first] = runs
      return {
        ...stamp,
        predicate,
        runs: part.items,
        count: runs.length,
        frames,
        searched,
        truncated: part.items.length < runs.length,
        next_cursor: part.next_cursor,
        summary:
          first === undefined
            ? `None of ${count(searched, 'frame')} meets it.`
            : `${count(frames, 'frame')} of ${searched} in ${count(runs.length, 'run')}, first in frames ${first.first_frame} to ${first.last_frame}.`,
      }
    },
  })
}

const findRuns = (recording: Recording, predicate: Predicate, range: FrameRange, ctx: ReplayContext) =>
  recording.analyse<{ runs: readonly FrameRun[]; searched: number }>(
    'search',
    { predicate, range },
    looking(ctx),
  )
