/** What a law found: a run of frames with its kind, how bad it is and how sure that is. */
import type { Run, Subject } from './run.ts'

/** Kinds of findings, one a law or a side of a law. */
export const findingKinds = [
  'nan',
  'missing_frames',
  'frozen_time',
  'nonuniform_dt',
  'quaternion_norm',
  'teleport',
  'blow_up',
  'friction_cone',
  'restitution',
  'normal_flip',
  'tunnelling',
  'solver_stall',
  'contact_chatter',
  'momentum',
  'energy_injection',
  'dissipation_without_contact',
  'energy_drift',
  'penetration',
  'jitter',
  'creep',
] as const

/** One of them; the order is that of causes before what usually follows from them. */
export type FindingKind = (typeof findingKinds)[number]

/** How much it matters: an error breaks a law, a warning is suspicious, an info is worth knowing. */
export type Severity = 'error' | 'warning' | 'info'

/** A finding before it is ranked. */
export interface Finding extends Subject {
  readonly kind: FindingKind
  readonly severity: Severity
  readonly frames: { readonly first: number; readonly last: number; readonly peak: number }
  /** at the peak, in `unit` */
  readonly value: number
  readonly limit: number
  readonly unit: string
  /** 0 to 1 */
  readonly confidence: number
}

/** How a kind is told. */
export interface Verdict {
  readonly kind: FindingKind
  readonly severity?: Severity
  readonly unit: string
  readonly confidence: number
  /** in place of the run's own value and limit */
  readonly value?: number
  readonly limit?: number
}

/** A run as a finding. */
export const findingOf = (
  { first, last, peak, bodies, pair, ...run }: Run,
  { kind, severity = 'error', unit, confidence, value = run.value, limit = run.limit }: Verdict,
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
})
