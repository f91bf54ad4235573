/** Frames whose system energy makes a step, what kind of step it is, and which bodies made it. */
import type {
  BodyEnergy,
  BodyId,
  Columns,
  Frame,
  RecordingSummary,
  SystemEnergyField,
  Value,
} from '@causeway/recording'
import { type Pair, pairsOf } from './body.ts'
import { column, type Point, points, rowsWhere } from './columns.ts'
import { count, quantity } from './sentence.ts'

/**
 * `baseline`: the first frame, or one in which a body appears; its step is no physics.
 * `injection`: energy came from nowhere. `dissipation_without_contact`: the integrator lost it.
 * `impact_loss`: lost while bodies touched, which may be legitimate. `nonfinite`: the energy is no number.
 */
export type AnomalyKind =
  | 'baseline'
  | 'injection'
  | 'dissipation_without_contact'
  | 'impact_loss'
  | 'nonfinite'

/** A frame with |delta_e| above the threshold. */
export interface EnergyStep {
  readonly frame_id: number
  /** J; null where it is no number */
  readonly delta_e: Value
  readonly kind: AnomalyKind
  /** where it stands in the columns */
  readonly row: number
}

/** What is asked of the energy. */
export interface AnomalyRule {
  /** J; a step counts when it is greater, not when it is equal */
  readonly threshold: number
  /** frames whose step is no physics */
  readonly baselines: ReadonlySet<number>
}

/** The first frame, and every frame in which a body appears. */
export const baselineFrames = ({ frames, appearances }: RecordingSummary): ReadonlySet<number> =>
  new Set([
    ...(frames === null ? [] : [frames.first_frame]),
    ...appearances.map(({ first_frame }) => first_frame),
  ])

/** Every frame with |delta_e| > threshold or with an energy that is no number, in frame order. */
export function findSteps(
  energy: Columns<SystemEnergyField>,
  { threshold, baselines }: AnomalyRule,
): EnergyStep[] {
  const [frames, contact] = [column(energy, 'frame_id'), column(energy, 'collision_active')]
  const [delta, total] = [column(energy, 'delta_e'), column(energy, 'total_system_e')]
  const kindOf = (row: number): AnomalyKind => {
    if (!Number.isFinite(delta.get(row)) || !Number.isFinite(total.get(row))) return 'nonfinite'
    if (baselines.has(frames.get(row))) return 'baseline'
    if (delta.get(row) > 0) return 'injection'
    return contact.get(row) === 0 ? 'dissipation_without_contact' : 'impact_loss'
  }
  // A comparison with NaN is false: rows without a number are found as well as those above the threshold.
  const isFound = (row: number): boolean =>
    !(Math.abs(delta.get(row)) <= threshold) || !Number.isFinite(total.get(row))
  return rowsWhere(energy.length, isFound).map((row) => {
    const step = delta.get(row)
    return { frame_id: frames.get(row), delta_e: Number.isFinite(step) ? step : null, kind: kindOf(row), row }
  })
}

/** A step as it is answered; energies in J. */
export type Anomaly = Omit<EnergyStep, 'row'> &
  Pick<Point<SystemEnergyField, Flag>, 'simulation_time' | 'total_system_e' | Flag> & {
    /** the frame that the step is measured from; null for the first one */
    readonly since_frame: number | null
  }

type Flag = 'energy_injection' | 'collision_active'

/** The steps with what else was recorded of their frames. */
export function anomaliesOf(energy: Columns<SystemEnergyField>, steps: readonly EnergyStep[]): Anomaly[] {
  const frames = column(energy, 'frame_id')
  return steps.map(({ frame_id, delta_e, kind, row }) => {
    const [point] = points(energy, [row], ['energy_injection', 'collision_active'])
    return {
      frame_id,
      simulation_time: point?.simulation_time ?? null,
      delta_e,
      total_system_e: point?.total_system_e ?? null,
      kind,
      since_frame: row === 0 ? null : frames.get(row - 1),
      energy_injection: point?.energy_injection ?? false,
      collision_active: point?.collision_active ?? false,
    }
  })
}

/** How many of each kind. */
export type AnomalyCounts = Readonly<Record<AnomalyKind, number>>

/** Exact counts over all steps. */
export function countKinds(steps: readonly EnergyStep[]): AnomalyCounts {
  const counts = { injection: 0, dissipation_without_contact: 0, impact_loss: 0, nonfinite: 0, baseline: 0 }
  for (const { kind } of steps) counts[kind] += 1
  return counts
}

/** Energy gained and lost over all frames but the baselines, J: many small steps show here, below any threshold. */
export function energyBudget(
  energy: Columns<SystemEnergyField>,
  baselines: ReadonlySet<number>,
): { injected_e: number; lost_e: number } {
  const [frames, delta] = [column(energy, 'frame_id'), column(energy, 'delta_e')]
  const sum = { injected_e: 0, lost_e: 0 }
  for (let row = 0; row < energy.length; row++) {
    const step = delta.get(row)
    if (!Number.isFinite(step) || baselines.has(frames.get(row))) continue
    if (step > 0) sum.injected_e += step
    else sum.lost_e -= step
  }
  return sum
}

/** Who made a step: the bodies whose energy changed most, J, and the pairs in contact. */
export interface Attribution {
  readonly per_body: readonly { readonly body_id: BodyId; readonly delta_e: Value }[]
  readonly pairs: readonly Pair[]
}

/** The step of a frame by body, greatest first, at most `limit`; a body that appears counts with all its energy. */
export function attribute(frame: Frame, previous: Frame | null, limit = 3): Attribution {
  const before = new Map(previous?.body_energies.map((row) => [row.body_id, row]))
  const per_body = frame.body_energies
    .map((row) => ({ body_id: row.body_id, delta_e: step(row, before.get(row.body_id)) }))
    .sort((a, b) => size(b.delta_e) - size(a.delta_e))
    .slice(0, limit)
  return {
    per_body,
    pairs: pairsOf(frame.collisions.length > 0 ? frame.collisions : frame.friction_constraints),
  }
}

function step({ total_e }: BodyEnergy, before: BodyEnergy | undefined): Value {
  if (total_e === null || before?.total_e === null) return null
  return total_e - (before?.total_e ?? 0)
}

/** A value that is no number stands before every number. */
const size = (value: Value): number => (value === null ? Number.MAX_VALUE : Math.abs(value))

const words: Readonly<Record<Exclude<AnomalyKind, 'baseline'>, readonly [one: string, many: string]>> = {
  nonfinite: ['frame whose energy is no number', 'frames whose energy is no number'],
  injection: ['injection', 'injections'],
  dissipation_without_contact: ['loss without contact', 'losses without contact'],
  impact_loss: ['loss in contact', 'losses in contact'],
}

/** The anomalies in a few sentences; baselines are counted apart, and `shown` tells how many are listed. */
export function anomalySummary(steps: readonly EnergyStep[], threshold: number, shown: number): string {
  const counts = countKinds(steps)
  const found = steps.filter(({ kind }) => kind !== 'baseline')
  const baseline =
    counts.baseline === 0
      ? ''
      : ` ${count(counts.baseline, 'baseline step')} (first frame or new body) not counted.`
  if (found.length === 0) return `No anomalies with |delta_e| > ${threshold} J.${baseline}`
  const kinds = (Object.keys(words) as (keyof typeof words)[])
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${count(counts[kind], ...words[kind])}${extreme(found, kind)}`)
  const total = count(found.length, 'anomaly', 'anomalies')
  const rest = shown < steps.length ? ` ${shown} listed; next_cursor leads to the rest.` : ''
  return `${total} with |delta_e| > ${threshold} J: ${kinds.join('; ')}.${baseline}${rest}`
}

function extreme(found: readonly EnergyStep[], kind: AnomalyKind): string {
  const own = found.filter((step) => step.kind === kind)
  const [first] = own
  if (kind === 'nonfinite') return ` (first: frame ${first?.frame_id})`
  const most = own.reduce((a, b) => (size(b.delta_e) > size(a.delta_e) ? b : a))
  return ` (greatest: ${quantity(most.delta_e, 'J')} in frame ${most.frame_id})`
}
