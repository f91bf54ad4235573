/** What must hold in every run of a scene, and whether it held in this one. */
import type { BodyId, Capability, Columns } from '@causeway/recording'
import { z } from 'zod'
import { column } from './columns.ts'
import type { Finding } from './laws/finding.ts'
import { quantity } from './sentence.ts'

/** Invariants that can be asserted; each is optional, limits in SI units. */
export const invariantsSchema = z.strictObject({
  /** greatest |E - E0| / |E0| */
  max_energy_drift: z.number().min(0).optional(),
  /** greatest step of the system energy upwards, J */
  max_injection_j: z.number().min(0).optional(),
  /** centre of every body, or of each body by id, m */
  never_below: z.union([z.number(), z.record(z.string(), z.number())]).optional(),
  /** from this frame on no body is faster; `body` for one of them */
  rest_by: z
    .strictObject({ frame: z.int(), speed: z.number().min(0).default(0.01), body: z.int().optional() })
    .optional(),
  /** m */
  max_penetration_m: z.number().min(0).optional(),
  no_cone_violation: z.literal(true).optional(),
  /** what diagnose must not find: errors, or warnings as well */
  no_findings: z.enum(['error', 'warning']).optional(),
})
export type Invariants = z.output<typeof invariantsSchema>

/** One invariant held against a recording. */
export interface Verdict {
  readonly invariant: string
  readonly passed: boolean
  readonly value: number | null
  readonly limit: number
  readonly unit: string
  /** where it came nearest to its limit or broke it worst */
  readonly frame_id: number | null
  readonly body_id?: BodyId
  /** the call that shows it */
  readonly evidence: string
}

/** Names of the series that the invariants read. */
export const invariantSeries = (bodies: readonly BodyId[]): string[] => [
  ...['energy.total', 'energy.delta', 'contacts.depth'],
  ...bodies.flatMap((body) => [`body.${body}.position.z`, `body.${body}.speed`]),
]

interface Peak {
  readonly value: number
  readonly frame: number | null
}

/**
 * The greatest of a measure over the rows; null where nothing was recorded. What is not finite once there was a value
 * counts as infinite: a run that breaks down keeps no limit.
 */
function greatest(columns: Columns, name: string, measure: (value: number) => number, from = 0): Peak | null {
  const frames = column(columns, 'frame_id')
  const values = column(columns, name)
  let peak: Peak | null = null
  let isThere = false
  for (let row = 0; row < columns.length; row++) {
    const measured = measure(values.get(row))
    if (!Number.isNaN(measured)) isThere = true
    if (!isThere || frames.get(row) < from) continue
    const value = Number.isNaN(measured) ? Number.POSITIVE_INFINITY : measured
    if (peak === null || value > peak.value) peak = { value, frame: frames.get(row) }
  }
  return peak
}

/**
 * |E - E0| / |E0| at its greatest; 0 where E0 is, as the original query layer has it, and null where E0 was not recorded.
 */
function energyDrift(columns: Columns): Peak | null {
  const energy = column(columns, 'energy.total')
  const first = columns.length === 0 ? Number.NaN : energy.get(0)
  if (Number.isNaN(first)) return null
  if (Math.abs(first) < 1e-12) return { value: 0, frame: null }
  return greatest(columns, 'energy.total', (value) => Math.abs(value - first) / Math.abs(first))
}

/** What a recording is held by, beside its series. */
interface Judged {
  readonly bodies: readonly BodyId[]
  /** what the recording holds */
  readonly capabilities: readonly Capability[]
  /** those of diagnose */
  readonly findings: readonly Finding[]
}

/**
 * Holds a recording against invariants; `columns` are the `invariantSeries`. What was not recorded keeps none: its value
 * is null.
 */
export function judge(
  invariants: Invariants,
  columns: Columns,
  { bodies, capabilities, findings }: Judged,
): Verdict[] {
  const verdicts: Verdict[] = []
  const atMost = (
    invariant: string,
    peak: Peak | null,
    { limit, unit, evidence, body }: { limit: number; unit: string; evidence: string; body?: BodyId },
  ): void => {
    verdicts.push({
      invariant,
      passed: peak !== null && peak.value <= limit,
      value: peak?.value ?? null,
      limit,
      unit,
      frame_id: peak?.frame ?? null,
      ...(body === undefined ? {} : { body_id: body }),
      evidence,
    })
  }
  const { max_energy_drift, max_injection_j, never_below, rest_by, max_penetration_m } = invariants
  if (max_energy_drift !== undefined)
    atMost('max_energy_drift', energyDrift(columns), {
      limit: max_energy_drift,
      unit: '1',
      evidence: 'get_system_energy',
    })
  if (max_injection_j !== undefined)
    atMost(
      'max_injection_j',
      greatest(columns, 'energy.delta', (step) => Math.max(0, step)),
      {
        limit: max_injection_j,
        unit: 'J',
        evidence: 'find_energy_anomalies',
      },
    )
  if (max_penetration_m !== undefined)
    atMost(
      'max_penetration_m',
      greatest(columns, 'contacts.depth', (depth) => depth),
      {
        limit: max_penetration_m,
        unit: 'm',
        evidence: 'check_penetration',
      },
    )
  if (never_below !== undefined) {
    const limits =
      typeof never_below === 'number'
        ? bodies.map((body) => [body, never_below] as const)
        : Object.entries(never_below).map(([body, limit]) => [Number(body), limit] as const)
    for (const [body, limit] of limits) {
      const peak = bodies.includes(body)
        ? greatest(columns, `body.${body}.position.z`, (height) => -height)
        : null
      const lowest = peak === null ? null : -peak.value
      verdicts.push({
        invariant: 'never_below',
        passed: lowest !== null && lowest >= limit,
        value: lowest,
        limit,
        unit: 'm',
        frame_id: peak?.frame ?? null,
        body_id: body,
        evidence: 'get_body_trajectory',
      })
    }
  }
  if (rest_by !== undefined)
    for (const body of rest_by.body === undefined ? bodies : [rest_by.body])
      atMost(
        'rest_by',
        bodies.includes(body)
          ? greatest(columns, `body.${body}.speed`, (speed) => speed, rest_by.frame)
          : null,
        {
          limit: rest_by.speed,
          unit: 'm/s',
          evidence: 'search_frames',
          body,
        },
      )
  if (invariants.no_cone_violation) {
    const beyond = without(
      'no_cone_violation',
      findings.filter(({ kind }) => kind === 'friction_cone'),
      'check_friction_cone',
    )
    verdicts.push(
      capabilities.includes('tangent_lambdas') ? beyond : { ...beyond, passed: false, value: null },
    )
  }
  if (invariants.no_findings !== undefined) {
    const severities = invariants.no_findings === 'error' ? ['error'] : ['error', 'warning']
    verdicts.push(
      without(
        'no_findings',
        findings.filter(({ severity }) => severities.includes(severity)),
        'diagnose',
      ),
    )
  }
  return verdicts
}

/** True of a verdict: there is none of these findings. */
function without(invariant: string, found: readonly Finding[], evidence: string): Verdict {
  const [first] = found
  return {
    invariant,
    passed: first === undefined,
    value: found.length,
    limit: 0,
    unit: 'findings',
    frame_id: first?.frames.first ?? null,
    evidence,
  }
}

/**
 * What a healthy run shows, as limits for later ones: a tenth of room above the greatest, and below the lowest. What it
 * did not record sets none.
 */
export function measured(columns: Columns, bodies: readonly BodyId[], margin: number): Invariants {
  const above = (name: keyof Invariants, peak: Peak | null): Invariants =>
    peak === null ? {} : { [name]: Math.max(1e-6, peak.value * (1 + margin)) }
  const lowest = bodies.flatMap((body) => {
    const peak = greatest(columns, `body.${body}.position.z`, (height) => -height)
    return peak === null
      ? []
      : [[String(body), -peak.value - Math.max(1e-6, Math.abs(peak.value) * margin)] as const]
  })
  return {
    ...above('max_energy_drift', energyDrift(columns)),
    ...above(
      'max_injection_j',
      greatest(columns, 'energy.delta', (step) => Math.max(0, step)),
    ),
    ...above(
      'max_penetration_m',
      greatest(columns, 'contacts.depth', (depth) => depth),
    ),
    never_below: Object.fromEntries(lowest),
  }
}

/** The verdicts in one sentence. */
export function verdictSummary(verdicts: readonly Verdict[]): string {
  const failed = verdicts.filter(({ passed }) => !passed)
  if (failed.length === 0) return `All ${verdicts.length} invariants hold.`
  const [worst] = failed
  const where = worst?.frame_id === null ? '' : ` in frame ${worst?.frame_id}`
  return `${failed.length} of ${verdicts.length} invariants fail: ${failed.map(({ invariant }) => invariant).join(', ')}; first ${worst?.invariant}, ${quantity(worst?.value ?? null, worst?.unit ?? '')} against ${quantity(worst?.limit ?? null, worst?.unit ?? '')}${where}.`
}
