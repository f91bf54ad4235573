import type {
  BodyEnergy,
  BodyId,
  Columns,
  Frame,
  RecordingSummary,
  SystemEnergyField,
  Value,
} from '@causeway/recording'
import { listPairs, type Pair } from '../bodies/body.ts'
import { formatCount, formatQuantity } from '../sentence.ts'
import { filterRows, getColumn, type Point, toPoints } from '../series/columns.ts'

/** `baseline`: the first frame, or a body appears. `impact_loss`: the loss may be legitimate. */
type AnomalyKind = 'baseline' | 'injection' | 'dissipation_without_contact' | 'impact_loss' | 'nonfinite'

interface EnergyStep {
  readonly frame_id: number
  /** J */
  readonly delta_e: Value
  readonly kind: AnomalyKind
  readonly row: number
}

interface AnomalyRule {
  /** J, exclusive. */
  readonly threshold: number
  readonly baselines: ReadonlySet<number>
}

export const listBaselineFrames = ({ frames, appearances }: RecordingSummary): ReadonlySet<number> =>
  new Set([
    ...(frames === null ? [] : [frames.first_frame]),
    ...appearances.map(({ first_frame }) => first_frame),
  ])

/** Returns frames whose energy changes by more than the threshold or is not finite. */
export function findEnergySteps(
  energy: Columns<SystemEnergyField>,
  { threshold, baselines }: AnomalyRule,
): EnergyStep[] {
  const [frames, contact] = [getColumn(energy, 'frame_id'), getColumn(energy, 'collision_active')]
  const [delta, total] = [getColumn(energy, 'delta_e'), getColumn(energy, 'total_system_e')]
  const classify = (row: number): AnomalyKind => {
    if (!Number.isFinite(delta.get(row)) || !Number.isFinite(total.get(row))) return 'nonfinite'
    if (baselines.has(frames.get(row))) return 'baseline'
    if (delta.get(row) > 0) return 'injection'
    return contact.get(row) === 0 ? 'dissipation_without_contact' : 'impact_loss'
  }
  // Negated, because comparisons with NaN are false.
  const isReported = (row: number): boolean =>
    !(Math.abs(delta.get(row)) <= threshold) || !Number.isFinite(total.get(row))
  return filterRows(energy.length, isReported).map((row) => {
    const energyChange = delta.get(row)
    return {
      frame_id: frames.get(row),
      delta_e: Number.isFinite(energyChange) ? energyChange : null,
      kind: classify(row),
      row,
    }
  })
}

export type Anomaly = Omit<EnergyStep, 'row'> &
  Pick<Point<SystemEnergyField, Flag>, 'simulation_time' | 'total_system_e' | Flag> & {
    /** `null` for the first frame. */
    readonly since_frame: number | null
  }

type Flag = 'energy_injection' | 'collision_active'

export function toAnomalies(energy: Columns<SystemEnergyField>, steps: readonly EnergyStep[]): Anomaly[] {
  const frames = getColumn(energy, 'frame_id')
  return steps.map(({ frame_id, delta_e, kind, row }) => {
    const [point] = toPoints(energy, [row], ['energy_injection', 'collision_active'])
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

type AnomalyCounts = Readonly<Record<AnomalyKind, number>>

export function countKinds(steps: readonly EnergyStep[]): AnomalyCounts {
  const counts = { injection: 0, dissipation_without_contact: 0, impact_loss: 0, nonfinite: 0, baseline: 0 }
  for (const { kind } of steps) counts[kind] += 1
  return counts
}

/** Returns sums in J. Ignores baselines. */
export function sumEnergyChanges(
  energy: Columns<SystemEnergyField>,
  baselines: ReadonlySet<number>,
): { injected_e: number; lost_e: number } {
  const [frames, delta] = [getColumn(energy, 'frame_id'), getColumn(energy, 'delta_e')]
  const sum = { injected_e: 0, lost_e: 0 }
  for (let row = 0; row < energy.length; row++) {
    const step = delta.get(row)
    if (!Number.isFinite(step) || baselines.has(frames.get(row))) continue
    if (step > 0) sum.injected_e += step
    else sum.lost_e -= step
  }
  return sum
}

interface Attribution {
  readonly per_body: readonly { readonly body_id: BodyId; readonly delta_e: Value }[]
  readonly pairs: readonly Pair[]
}

/** Returns the `limit` largest changes, and the pairs in contact. A body that appears changes by its total energy. */
export function attributeEnergyStep(frame: Frame, previous: Frame | null, limit = 3): Attribution {
  const before = new Map(previous?.body_energies.map((row) => [row.body_id, row]))
  const per_body = frame.body_energies
    .map((row) => ({ body_id: row.body_id, delta_e: getEnergyChange(row, before.get(row.body_id)) }))
    .sort((a, b) => getMagnitude(b.delta_e) - getMagnitude(a.delta_e))
    .slice(0, limit)
  return {
    per_body,
    pairs: listPairs(frame.collisions.length > 0 ? frame.collisions : frame.friction_constraints),
  }
}

function getEnergyChange({ total_e }: BodyEnergy, before: BodyEnergy | undefined): Value {
  if (total_e === null || before?.total_e === null) return null
  return total_e - (before?.total_e ?? 0)
}

const getMagnitude = (value: Value): number => (value === null ? Number.MAX_VALUE : Math.abs(value))

const nouns: Readonly<Record<Exclude<AnomalyKind, 'baseline'>, readonly [singular: string, plural: string]>> =
  {
    nonfinite: ['frame with an undefined energy', 'frames with an undefined energy'],
    injection: ['injection', 'injections'],
    dissipation_without_contact: ['loss without contact', 'losses without contact'],
    impact_loss: ['loss in contact', 'losses in contact'],
  }

export function summarizeAnomalies(
  steps: readonly EnergyStep[],
  threshold: number,
  listedCount: number,
): string {
  const counts = countKinds(steps)
  const anomalies = steps.filter(({ kind }) => kind !== 'baseline')
  const baselineText =
    counts.baseline === 0
      ? ''
      : ` ${formatCount(counts.baseline, 'baseline step')} (first frame or new body) not counted.`
  if (anomalies.length === 0) return `No anomalies with |delta_e| > ${threshold} J.${baselineText}`
  const kinds = (Object.keys(nouns) as (keyof typeof nouns)[])
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${formatCount(counts[kind], ...nouns[kind])}${describeLargest(anomalies, kind)}`)
  const total = formatCount(anomalies.length, 'anomaly', 'anomalies')
  const pageText = listedCount < steps.length ? ` ${listedCount} listed; next_cursor leads to the rest.` : ''
  return `${total} with |delta_e| > ${threshold} J: ${kinds.join('; ')}.${baselineText}${pageText}`
}

function describeLargest(anomalies: readonly EnergyStep[], kind: AnomalyKind): string {
  const sameKind = anomalies.filter((step) => step.kind === kind)
  const [first] = sameKind
  if (kind === 'nonfinite') return ` (first: frame ${first?.frame_id})`
  const largest = sameKind.reduce((a, b) => (getMagnitude(b.delta_e) > getMagnitude(a.delta_e) ? b : a))
  return ` (largest: ${formatQuantity(largest.delta_e, 'J')} in frame ${largest.frame_id})`
}
