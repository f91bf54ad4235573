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

/** One frame with |delta_e| above the threshold, J. */
export interface Anomaly
  extends Pick<
    Point<SystemEnergyField, 'energy_injection' | 'collision_active'>,
    'frame_id' | 'simulation_time' | 'delta_e' | 'total_system_e' | 'energy_injection' | 'collision_active'
  > {
  readonly kind: AnomalyKind
  /** the frame that the step is measured from; null for the first one */
  readonly since_frame: number | null
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
export function findAnomalies(energy: Columns<SystemEnergyField>, rule: AnomalyRule): Anomaly[] {
  const frames = column(energy, 'frame_id')
  const [delta, total] = [column(energy, 'delta_e'), column(energy, 'total_system_e')]
  // A comparison with NaN is false: rows without a number are found as well as those above the threshold.
  const isFound = (row: number): boolean =>
    !(Math.abs(delta.get(row)) <= rule.threshold) || !Number.isFinite(total.get(row))
  const found = rowsWhere(energy.length, isFound)
  const steps = points(energy, found, ['energy_injection', 'collision_active'])
  return steps.map((step, index) => {
    const row = found[index] ?? 0
    const { frame_id, simulation_time, delta_e, total_system_e, energy_injection, collision_active } = step
    return {
      frame_id,
      simulation_time,
      delta_e,
      total_system_e,
      kind: kindOf(step, rule.baselines),
      since_frame: row === 0 ? null : frames.get(row - 1),
      energy_injection,
      collision_active,
    }
  })
}

function kindOf(
  { frame_id, delta_e, total_system_e, collision_active }: Omit<Anomaly, 'kind' | 'since_frame'>,
  baselines: ReadonlySet<number>,
): AnomalyKind {
  if (delta_e === null || total_system_e === null) return 'nonfinite'
  if (baselines.has(frame_id)) return 'baseline'
  if (delta_e > 0) return 'injection'
  return collision_active ? 'impact_loss' : 'dissipation_without_contact'
}

/** How many of each kind. */
export type AnomalyCounts = Readonly<Record<AnomalyKind, number>>

/** Exact counts over all anomalies. */
export function countKinds(anomalies: readonly Anomaly[]): AnomalyCounts {
  const of = (kind: AnomalyKind): number => anomalies.filter((anomaly) => anomaly.kind === kind).length
  return {
    injection: of('injection'),
    dissipation_without_contact: of('dissipation_without_contact'),
    impact_loss: of('impact_loss'),
    nonfinite: of('nonfinite'),
    baseline: of('baseline'),
  }
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
export function anomalySummary(anomalies: readonly Anomaly[], threshold: number, shown: number): string {
  const counts = countKinds(anomalies)
  const found = anomalies.filter(({ kind }) => kind !== 'baseline')
  const baseline =
    counts.baseline === 0
      ? ''
      : ` ${count(counts.baseline, 'baseline step')} (first frame or new body) not counted.`
  if (found.length === 0) return `No anomalies with |delta_e| > ${threshold} J.${baseline}`
  const kinds = (Object.keys(words) as (keyof typeof words)[])
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${count(counts[kind], ...words[kind])}${extreme(found, kind)}`)
  const total = count(found.length, 'anomaly', 'anomalies')
  const rest = shown < anomalies.length ? ` ${shown} listed; next_cursor leads to the rest.` : ''
  return `${total} with |delta_e| > ${threshold} J: ${kinds.join('; ')}.${baseline}${rest}`
}

function extreme(found: readonly Anomaly[], kind: AnomalyKind): string {
  const own = found.filter((anomaly) => anomaly.kind === kind)
  const [first] = own
  if (kind === 'nonfinite') return ` (first: frame ${first?.frame_id})`
  const most = own.reduce((a, b) => (size(b.delta_e) > size(a.delta_e) ? b : a))
  return ` (greatest: ${quantity(most.delta_e, 'J')} in frame ${most.frame_id})`
}
