import type { BodyId, Capability, Columns } from '@causeway/recording'
import { z } from 'zod'
import type { Coverage } from '../coverage/coverage.ts'
import type { Finding } from '../findings/finding.ts'
import { formatCount, formatQuantity } from '../sentence.ts'
import { getColumn } from '../series/columns.ts'

/** Limits in SI units. */
export const invariantsSchema = z.strictObject({
  /** Maximum |E - E0| / |E0|. */
  max_energy_drift: z.number().min(0).optional(),
  /** Maximum increase of the system energy per frame. */
  max_injection_j: z.number().min(0).optional(),
  /** Minimum z of the centres of all bodies, or of bodies by id. */
  never_below: z.union([z.number(), z.record(z.string(), z.number())]).optional(),
  /** Maximum speed of all bodies or of one body, from a frame on. */
  rest_by: z
    .strictObject({ frame: z.int(), speed: z.number().min(0).default(0.01), body: z.int().optional() })
    .optional(),
  max_penetration_m: z.number().min(0).optional(),
  no_cone_violation: z.literal(true).optional(),
  /** Minimum severity of findings that fail the invariant. */
  no_findings: z.enum(['error', 'warning']).optional(),
})
export type Invariants = z.output<typeof invariantsSchema>

export interface Verdict {
  readonly invariant: string
  readonly passed: boolean
  /** `null` if not recorded: the invariant then fails. */
  readonly value: number | null
  readonly limit: number
  readonly unit: string
  readonly frame_id: number | null
  readonly body_id?: BodyId
  readonly evidence: string
}

export const listInvariantSeries = (bodies: readonly BodyId[]): string[] => [
  ...['energy.total', 'energy.delta', 'contacts.depth'],
  ...bodies.flatMap((body) => [`body.${body}.position.z`, `body.${body}.speed`]),
]

interface Peak {
  readonly value: number
  readonly frame: number | null
}

/** Returns the maximum. After the first value, missing values count as infinite. */
function findPeak(
  columns: Columns,
  name: string,
  measure: (value: number) => number = (value) => value,
  from = 0,
): Peak | null {
  const frames = getColumn(columns, 'frame_id')
  const values = getColumn(columns, name)
  let peak: Peak | null = null
  let hasValue = false
  for (let row = 0; row < columns.length; row++) {
    const measured = measure(values.get(row))
    if (!Number.isNaN(measured)) hasValue = true
    if (!hasValue || frames.get(row) < from) continue
    const value = Number.isNaN(measured) ? Number.POSITIVE_INFINITY : measured
    if (peak === null || value > peak.value) peak = { value, frame: frames.get(row) }
  }
  return peak
}

/** Returns 0 if E0 is 0; `null` if E0 was not recorded. */
function findEnergyDrift(columns: Columns): Peak | null {
  const energy = getColumn(columns, 'energy.total')
  const first = columns.length === 0 ? Number.NaN : energy.get(0)
  if (Number.isNaN(first)) return null
  if (Math.abs(first) < 1e-12) return { value: 0, frame: null }
  return findPeak(columns, 'energy.total', (value) => Math.abs(value - first) / Math.abs(first))
}

const systemInvariants = {
  max_energy_drift: { unit: '1', evidence: 'get_system_energy', find: findEnergyDrift },
  max_injection_j: {
    unit: 'J',
    evidence: 'find_energy_anomalies',
    find: (columns: Columns) => findPeak(columns, 'energy.delta', (change) => Math.max(0, change)),
  },
  max_penetration_m: {
    unit: 'm',
    evidence: 'check_penetration',
    find: (columns: Columns) => findPeak(columns, 'contacts.depth'),
  },
} as const
const systemNames = Object.keys(systemInvariants) as (keyof typeof systemInvariants)[]

const findLowest = (columns: Columns, body: BodyId): Peak | null =>
  findPeak(columns, `body.${body}.position.z`, (height) => -height)

interface CheckedRun {
  readonly bodies: readonly BodyId[]
  readonly capabilities: readonly Capability[]
  readonly findings: readonly Finding[]
}

/** `columns` must contain the series of `listInvariantSeries`. */
export function checkInvariants(invariants: Invariants, columns: Columns, run: CheckedRun): Verdict[] {
  return [
    ...systemNames.flatMap((invariant) => {
      const { unit, evidence, find } = systemInvariants[invariant]
      const limit = invariants[invariant]
      if (limit === undefined) return []
      return [createVerdict(find(columns), { invariant, limit, unit, evidence })]
    }),
    ...checkHeights(invariants, columns, run),
    ...checkRest(invariants, columns, run),
    ...checkFindings(invariants, run),
  ]
}

const createVerdict = (
  peak: Peak | null,
  verdict: Pick<Verdict, 'invariant' | 'limit' | 'unit' | 'evidence' | 'body_id'>,
): Verdict => ({
  ...verdict,
  passed: peak !== null && peak.value <= verdict.limit,
  value: peak?.value ?? null,
  frame_id: peak?.frame ?? null,
})

function checkHeights({ never_below }: Invariants, columns: Columns, { bodies }: CheckedRun): Verdict[] {
  if (never_below === undefined) return []
  const limits =
    typeof never_below === 'number'
      ? bodies.map((body) => [body, never_below] as const)
      : Object.entries(never_below).map(([body, limit]) => [Number(body), limit] as const)
  return limits.map(([body_id, limit]) => {
    const peak = bodies.includes(body_id) ? findLowest(columns, body_id) : null
    const commonFields = { invariant: 'never_below', unit: 'm', body_id, evidence: 'get_series' }
    const verdict = createVerdict(peak, { ...commonFields, limit: -limit })
    return { ...verdict, limit, value: peak === null ? null : -peak.value }
  })
}

function checkRest({ rest_by }: Invariants, columns: Columns, { bodies }: CheckedRun): Verdict[] {
  if (rest_by === undefined) return []
  const { frame, speed, body } = rest_by
  return (body === undefined ? bodies : [body]).map((body_id) => {
    const peak = bodies.includes(body_id)
      ? findPeak(columns, `body.${body_id}.speed`, undefined, frame)
      : null
    const commonFields = { invariant: 'rest_by', unit: 'm/s', body_id, evidence: 'search_frames' }
    return createVerdict(peak, { ...commonFields, limit: speed })
  })
}

function checkFindings(
  { no_cone_violation, no_findings }: Invariants,
  { findings, capabilities }: CheckedRun,
): Verdict[] {
  const verdicts: Verdict[] = []
  if (no_cone_violation) {
    const cones = findings.filter(({ kind }) => kind === 'friction_cone')
    const verdict = expectNoFindings('no_cone_violation', cones, 'check_friction_cone')
    const isRecorded = capabilities.includes('tangent_lambdas')
    verdicts.push(isRecorded ? verdict : { ...verdict, passed: false, value: null })
  }
  if (no_findings !== undefined) {
    const severities = no_findings === 'error' ? ['error'] : ['error', 'warning']
    const countedFindings = findings.filter(({ severity }) => severities.includes(severity))
    verdicts.push(expectNoFindings('no_findings', countedFindings, 'diagnose'))
  }
  return verdicts
}

function expectNoFindings(invariant: string, findings: readonly Finding[], evidence: string): Verdict {
  const peak = { value: findings.length, frame: findings[0]?.frames.first ?? null }
  return createVerdict(peak, { invariant, limit: 0, unit: 'findings', evidence })
}

export interface MeasuredInvariants {
  readonly invariants: Invariants
  /** Names of figures that are infinite because the run diverged. */
  readonly infiniteNames: readonly string[]
}

/** Relaxes each figure by the relative `margin`. Omits missing and infinite figures. */
export function measureInvariants(
  columns: Columns,
  bodies: readonly BodyId[],
  margin: number,
): MeasuredInvariants {
  const infiniteNames: string[] = []
  const selectFinite = (limits: readonly (readonly [key: string, limit: number, name: string])[]) => {
    const finiteLimits = limits.filter(([, limit]) => Number.isFinite(limit))
    infiniteNames.push(...limits.filter((limit) => !finiteLimits.includes(limit)).map(([, , name]) => name))
    return Object.fromEntries(finiteLimits.map(([key, limit]) => [key, limit]))
  }
  const limits = systemNames.flatMap((name) => {
    const peak = systemInvariants[name].find(columns)
    return peak === null ? [] : [[name, Math.max(1e-6, peak.value * (1 + margin)), name] as const]
  })
  const heightLimits = bodies.flatMap((body) => {
    const peak = findLowest(columns, body)
    if (peak === null) return []
    const limit = -peak.value - Math.max(1e-6, Math.abs(peak.value) * margin)
    return [[String(body), limit, `never_below of body ${body}`] as const]
  })
  const never_below = selectFinite(heightLimits)
  const hasHeights = Object.keys(never_below).length > 0
  return { invariants: { ...selectFinite(limits), ...(hasHeights && { never_below }) }, infiniteNames }
}

/** `coverage` is that of `no_findings`. */
export function summarizeVerdicts(verdicts: readonly Verdict[], coverage: Coverage | null): string {
  const failedVerdicts = verdicts.filter(({ passed }) => !passed)
  const [worst] = failedVerdicts
  const coverageText = describeUnchecked(coverage)
  const totalText = formatCount(verdicts.length, 'invariant')
  if (worst === undefined)
    return `${verdicts.length === 1 ? 'The invariant holds.' : `${verdicts.length === 2 ? 'Both' : `All ${verdicts.length}`} invariants hold.`}${coverageText}`
  const frameText = worst.frame_id === null ? '' : ` in frame ${worst.frame_id}`
  const names = [...new Set(failedVerdicts.map(({ invariant }) => invariant))].join(', ')
  const subject = worst.body_id === undefined ? '' : ` of body ${worst.body_id}`
  const unknownInvariants = failedVerdicts
    .filter(({ value }) => value === null)
    .map(({ invariant }) => invariant)
  const missingText =
    unknownInvariants.length === 0 ? '' : ` Not recorded: ${[...new Set(unknownInvariants)].join(', ')}.`
  return `${failedVerdicts.length} of ${totalText} ${failedVerdicts.length === 1 ? 'fails' : 'fail'}: ${names}. First: ${worst.invariant}${subject}, ${formatQuantity(worst.value, worst.unit)} against ${formatQuantity(worst.limit, worst.unit)}${frameText}.${missingText}${coverageText}`
}

function describeUnchecked(coverage: Coverage | null): string {
  if (coverage === null || coverage.not_checked.length === 0) return ''
  const missing = [...new Set(coverage.not_checked.flatMap((law) => law.missing))].join(', ')
  return ` no_findings covers ${formatCount(coverage.checked.length, 'law')}; not recorded: ${missing}.`
}
