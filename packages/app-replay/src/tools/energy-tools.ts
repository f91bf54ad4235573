/** Energy of a body and of the system over time, and the frames in which it makes a step. */
import type { Registrar } from '@causeway/app-kit'
import type { Frame, Recording } from '@causeway/recording'
import { z } from 'zod'
import { absentBody } from '../domain/absent-body.ts'
import { points } from '../domain/columns.ts'
import { page } from '../domain/cursor.ts'
import {
  type Anomaly,
  anomaliesOf,
  anomalySummary,
  attribute,
  baselineFrames,
  countKinds,
  energyBudget,
  findSteps,
} from '../domain/energy-anomaly.ts'
import { frameRange } from '../domain/frame-range.ts'
import { seriesPart, seriesSummary } from '../domain/series.ts'
import { opened, type ReplayContext, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import {
  bodyArgument,
  hints,
  partArguments,
  rangeArguments,
  recordingArgument,
  rows,
  stamp,
} from './shape.ts'

/** Anomalies between two reports of progress. */
const progressEvery = 50

/** Declares get_body_energy, get_system_energy and find_energy_anomalies. */
export function energyTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('get_body_energy', {
    about: 'Energies of one body over frames, J; long ranges as their peaks, with exact totals.',
    hints,
    input: { body_id: bodyArgument, ...rangeArguments, ...partArguments, ...recordingArgument },
    output: {
      ...stamp,
      energy_points: rows(),
    },
    example: { args: { recording: 'drop', body_id: 2, start_frame: 30, end_frame: 45 } },
    async run({ body_id, cursor, max_points, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const body = recording.resolveBody(body_id)
      const energy = await recording.bodyEnergy(body, frameRange(bounds, recording.summary.frames))
      if (energy.length === 0)
        throw absentBody(body, recording.summary, {
          where: 'this range',
          bodies: recording.summary.bodies.map(({ body_id }) => body_id),
        })
      const { rows, ...part } = seriesPart(energy, 'total_e', { cursor, limit: max_points })
      return {
        ...stamp,
        body_id: body,
        energy_points: points(energy, rows).map((point) => ({ body_id: body, ...point })),
        ...part,
        summary: seriesSummary(`energy point(s) for body ${body}`, rows.length, part),
      }
    },
  })

  app.tool('get_system_energy', {
    about:
      'Energy of the system over frames and its step delta_e, J; long ranges as their peaks, with exact totals.',
    hints,
    input: { ...rangeArguments, ...partArguments, ...recordingArgument },
    output: {
      ...stamp,
      energy_points: rows(),
    },
    example: { args: { recording: 'energy_injection' } },
    async run({ cursor, max_points, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const energy = await recording.systemEnergy(frameRange(bounds, recording.summary.frames))
      const { rows, ...part } = seriesPart(energy, 'total_system_e', { cursor, limit: max_points })
      return {
        ...stamp,
        energy_points: points(energy, rows, ['energy_injection', 'collision_active']),
        ...part,
        summary: seriesSummary('system energy point(s)', rows.length, part),
      }
    },
  })

  app.tool('find_energy_anomalies', {
    about:
      'Frames whose energy steps by more than the threshold: kind of step, bodies that made it, pairs in contact.',
    hints,
    input: {
      threshold: z.number().min(0).default(1).describe('J; |delta_e| beyond it'),
      ...partArguments,
      ...recordingArgument,
    },
    output: {
      ...stamp,
      anomalies: rows(),
    },
    example: { args: { recording: 'energy_injection', threshold: 1 } },
    async run({ threshold, cursor, max_points, recording: asked }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const energy = await recording.systemEnergy({ start: null, end: null })
      const baselines = baselineFrames(recording.summary)
      const all = findSteps(energy, { threshold, baselines })
      const part = page(all, ({ frame_id }) => frame_id, { cursor, limit: max_points })
      const counts = countKinds(all)
      return {
        ...stamp,
        threshold,
        anomalies: await attributed(recording, anomaliesOf(energy, part.items), ctx),
        count: all.length - counts.baseline,
        counts,
        ...energyBudget(energy, baselines),
        truncated: part.items.length < all.length,
        next_cursor: part.next_cursor,
        summary: anomalySummary(all, threshold, part.items.length),
      }
    },
  })
}

/** Each anomaly with the bodies that made it; frames are read in order, and one that two of them need only once. */
async function attributed(recording: Recording, anomalies: readonly Anomaly[], ctx: ReplayContext) {
  const told = []
  let last: Frame | null = null
  for (const [index, anomaly] of anomalies.entries()) {
    ctx.signal.throwIfAborted()
    if (index % progressEvery === 0) ctx.progress(index, anomalies.length)
    const { frame_id, since_frame } = anomaly
    const isNext = last !== null && last.frame_id === since_frame
    const previous: Frame | null =
      since_frame === null ? null : isNext ? last : await recording.frame(since_frame)
    last = await recording.frame(frame_id)
    told.push({ ...anomaly, ...attribute(last, previous) })
  }
  return told
}
