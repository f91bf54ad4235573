import type { Run, Subject } from '../steps/run.ts'

/** Kinds of findings, causes before their usual consequences. */
export const findingKinds = [
  'nan',
  'missing_frames',
  'frozen_time',
  'nonuniform_dt',
  'quaternion_norm',
  'invalid_mass',
  'invalid_body_id',
  'duplicate_state',
  'teleport',
  'velocity_mismatch',
  'invalid_impulse',
  'missing_contact',
  'contact_gap',
  'missing_reaction',
  'unequal_reaction',
  'attractive_impulse',
  'friction_energy',
  'friction_lost',
  'unit_mismatch',
  'unexplained_acceleration',
  'frozen_orientation',
  'spin_mismatch',
  'energy_rows',
  'blow_up',
  'friction_cone',
  'restitution',
  'normal_flip',
  'tunnelling',
  'solver_stall',
  'contact_chatter',
  'joint_drift',
  'momentum',
  'angular_momentum',
  'energy_injection',
  'dissipation_without_contact',
  'energy_drift',
  'penetration',
  'jitter',
  'creep',
] as const

export type FindingKind = (typeof findingKinds)[number]

/** An error breaks a law, a warning is suspicious, an info is a note. */
export type Severity = 'error' | 'warning' | 'info'

export interface Finding extends Subject {
  readonly kind: FindingKind
  readonly severity: Severity
  readonly frames: { readonly first: number; readonly last: number; readonly peak: number }
  /** Value and limit at the peak, in `unit`. */
  readonly value: number
  readonly limit: number
  readonly unit: string
  /** 0 to 1 */
  readonly confidence: number
  /** Replaces the kind's usual clause. */
  readonly text?: string
  /** What to record if this is not a fault. */
  readonly advice?: string
  /** Kind that determines the finding's rank among causes. Default: `kind`. */
  readonly rank?: FindingKind
}

interface FindingOptions {
  readonly kind: FindingKind
  /** Default: `error`. */
  readonly severity?: Severity
  readonly unit: string
  readonly confidence: number
  readonly text?: string
  readonly advice?: string
  readonly rank?: FindingKind
  /** Default: value and limit of the run. */
  readonly value?: number
  readonly limit?: number
}

export const createFinding = (
  { first, last, peak, bodies, pair, ...run }: Omit<Run, 'frames'>,
  {
    kind,
    severity = 'error',
    unit,
    confidence,
    text,
    advice,
    rank,
    value = run.value,
    limit = run.limit,
  }: FindingOptions,
): Finding => ({
  kind,
  severity,
  frames: { first, last, peak },
  bodies,
  pair,
  value,
  limit,
  unit,
  confidence,
  ...(text !== undefined && { text }),
  ...(advice !== undefined && { advice }),
  ...(rank !== undefined && { rank }),
})
