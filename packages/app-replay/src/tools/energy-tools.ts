import type { Frame, Recording } from '@causeway/recording'
import { z } from 'zod'
import { createBodyNotFoundError } from '../domain/bodies/absent-body.ts'
import { listRecordedNames, nameBodies } from '../domain/bodies/body-names.ts'
import { paginate } from '../domain/cursor.ts'
import {
  type Anomaly,
  attributeEnergyStep,
  countKinds,
  findEnergySteps,
  listBaselineFrames,
  sumEnergyChanges,
  summarizeAnomalies,
  toAnomalies,
} from '../domain/frames/energy-anomaly.ts'
import { toPoints } from '../domain/series/columns.ts'
import { selectSeriesPart, summarizeSeries } from '../domain/series/series.ts'
import type { ReplayContext } from '../session/session.ts'
import {
  bodyArgument,
  pageArguments,
  type Registration,
  rangeArguments,
  recordingTool,
  rows,
} from './recording-tool.ts'

const progressInterval = 50

export const energyTools: readonly Registration[] = [
  recordingTool('get_body_energy', {
    title: 'Get body energy',
    about: 'Return the energies (J) of a body over frames; for long ranges, minima and maxima.',
    searchHint: 'kinetic, potential energy of object',
    input: { body_id: bodyArgument, ...rangeArguments, ...pageArguments },
    output: { energy_points: rows() },
    widget: 'series',
    example: { args: { recording: 'drop', body_id: 2, start_frame: 30, end_frame: 45 } },
    async run({ body_id, cursor, max_points, ...bounds }, { recording, range }) {
      const body = recording.resolveBody(body_id)
      const energy = await recording.bodyEnergy(body, range(bounds))
      if (energy.length === 0)
        throw createBodyNotFoundError(body, recording.summary, {
          location: 'this range',
          bodies: recording.summary.bodies.map(({ body_id }) => body_id),
        })
      const { rows, ...part } = selectSeriesPart(energy, 'total_e', { cursor, limit: max_points })
      return {
        body_id: body,
        energy_points: toPoints(energy, rows).map((point) => ({ body_id: body, ...point })),
        ...part,
        summary: summarizeSeries(
          `energy point`,
          `for ${nameBodies([body], listRecordedNames(recording.summary))}`,
          rows.length,
          part,
        ),
      }
    },
  }),

  recordingTool('get_system_energy', {
    title: 'Get system energy',
    about:
      'Return the energy (J) of the system over frames and its change delta_e. Use find_energy_anomalies to find jumps.',
    searchHint: 'total energy of world, drift',
    input: { ...rangeArguments, ...pageArguments },
    output: { energy_points: rows() },
    widget: 'series',
    example: { args: { recording: 'energy_injection' } },
    async run({ cursor, max_points, ...bounds }, { recording, range }) {
      const energy = await recording.systemEnergy(range(bounds))
      const { rows, ...part } = selectSeriesPart(energy, 'total_system_e', { cursor, limit: max_points })
      return {
        energy_points: toPoints(energy, rows, ['energy_injection', 'collision_active']),
        ...part,
        summary: summarizeSeries('system energy point', '', rows.length, part),
      }
    },
  }),

  recordingTool('find_energy_anomalies', {
    title: 'Find energy anomalies',
    about:
      'Find the frames whose energy changes by more than the threshold, with kind and bodies. Use it when energy appears or vanishes.',
    searchHint: 'energy from nowhere, gain, loss, explosion',
    input: {
      threshold: z.number().min(0).default(1).describe('Minimum |delta_e| in J'),
      ...pageArguments,
    },
    output: { anomalies: rows() },
    example: { args: { recording: 'energy_injection', threshold: 1 } },
    async run({ threshold, cursor, max_points }, { recording, ctx }) {
      const energy = await recording.systemEnergy({ start: null, end: null })
      const baselines = listBaselineFrames(recording.summary)
      const steps = findEnergySteps(energy, { threshold, baselines })
      const page = paginate(steps, ({ frame_id }) => frame_id, { cursor, limit: max_points })
      const counts = countKinds(steps)
      return {
        threshold,
        anomalies: await attributeAnomalies(recording, toAnomalies(energy, page.items), ctx),
        count: steps.length - counts.baseline,
        counts,
        ...sumEnergyChanges(energy, baselines),
        truncated: page.items.length < steps.length,
        next_cursor: page.next_cursor,
        summary: summarizeAnomalies(steps, threshold, page.items.length),
      }
    },
  }),
]

async function attributeAnomalies(recording: Recording, anomalies: readonly Anomaly[], ctx: ReplayContext) {
  const attributedAnomalies = []
  let last: Frame | null = null
  for (const [index, anomaly] of anomalies.entries()) {
    ctx.signal.throwIfAborted()
    if (index % progressInterval === 0) ctx.progress(index, anomalies.length)
    const { frame_id, since_frame } = anomaly
    const isNext = last !== null && last.frame_id === since_frame
    const previous: Frame | null =
      since_frame === null ? null : isNext ? last : await recording.frame(since_frame)
    last = await recording.frame(frame_id)
    attributedAnomalies.push({ ...anomaly, ...attributeEnergyStep(last, previous) })
  }
  return attributedAnomalies
}
