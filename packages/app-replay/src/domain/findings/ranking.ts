import { type Finding, findingKinds, type Severity } from './finding.ts'

/** `follows` and `caused_by` are ids. `count` is the number of occurrences. */
export interface RankedFinding extends Finding {
  readonly id: string
  readonly follows: string | null
  readonly caused_by: string | null
  readonly count: number
}

/** Findings up to this number of frames after a fault are its consequences. */
const consequenceFrames = 10

const severities: readonly Severity[] = ['error', 'warning', 'info']

/** Joins repeats, sorts by severity, first frame, and causes before consequences, and assigns ids in this order. */
export function rankFindings(findings: readonly Finding[]): readonly RankedFinding[] {
  const sorted = moveMismatches(
    findings.toSorted(
      (a, b) =>
        severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
        getFirstFrame(a) - getFirstFrame(b) ||
        getKindRank(a) - getKindRank(b) ||
        b.confidence - a.confidence,
    ),
  )
  const causes: Finding[] = []
  const causeByEffect = new Map<Finding, Finding>()
  for (const finding of sorted) {
    const cause = causes.find((cause) => explains(cause, finding))
    // A repeat is not a consequence of the first occurrence. Later findings refer to that occurrence.
    if (cause === undefined || isRepeat(cause, finding)) causes.push(finding)
    else causeByEffect.set(finding, cause)
  }
  const joinedCauses = joinRepeats(causes)
  const ids = new Map(
    joinedCauses.flatMap(({ occurrences }, index) =>
      occurrences.map((finding) => [finding, `f${index + 1}`] as const),
    ),
  )
  const joinedEffects = joinRepeats(
    [...causeByEffect.keys()],
    (finding) => ids.get(causeByEffect.get(finding) ?? finding) ?? '',
  )
  return [
    ...joinedCauses.map(({ finding, occurrences }, index) => ({
      ...finding,
      id: `f${index + 1}`,
      follows: null,
      caused_by: null,
      count: occurrences.length,
    })),
    ...joinedEffects.map(({ finding, occurrences, group }, index) => ({
      ...finding,
      id: `f${joinedCauses.length + index + 1}`,
      follows: group,
      caused_by: group,
      count: occurrences.length,
    })),
  ]
}

/** Moves mismatches before their effects, which are detected first while a body accelerates. */
function moveMismatches(sorted: readonly Finding[]): readonly Finding[] {
  const reordered = [...sorted]
  for (const mismatch of sorted) {
    if (mismatch.kind !== 'velocity_mismatch') continue
    const from = reordered.indexOf(mismatch)
    const to = reordered.findIndex((finding) => isCausedByMismatch(finding, mismatch))
    if (to >= 0 && to < from) reordered.splice(to, 0, ...reordered.splice(from, 1))
  }
  return reordered
}

/** Kinds computed from recorded velocities. */
const velocityKinds: ReadonlySet<Finding['kind']> = new Set([
  'momentum',
  'energy_injection',
  'energy_drift',
  'dissipation_without_contact',
  'unexplained_acceleration',
])

const isCausedByMismatch = (finding: Finding, { frames, bodies, severity }: Finding): boolean =>
  velocityKinds.has(finding.kind) &&
  finding.severity === severity &&
  finding.frames.first < frames.first &&
  finding.frames.last >= frames.first - 1 &&
  String(finding.bodies) === String(bodies)

/** Ranks a collision that adds energy like an unequal reaction. */
const getKindRank = ({ kind, pair, rank = kind }: Finding): number =>
  findingKinds.indexOf(kind === 'energy_injection' && pair !== null ? 'unequal_reaction' : rank)

interface RepeatedFinding {
  readonly finding: Finding
  readonly occurrences: readonly Finding[]
  readonly group: string
}

const isRepeat = (a: Finding, b: Finding): boolean =>
  a.kind === b.kind &&
  a.severity === b.severity &&
  String(a.bodies) === String(b.bodies) &&
  String(a.pair) === String(b.pair)

/** Joins repeats, in the order of their first occurrences. */
function joinRepeats(
  findings: readonly Finding[],
  getGroup: (finding: Finding) => string = () => '',
): readonly RepeatedFinding[] {
  const groups = new Map<string, { group: string; occurrences: Finding[] }>()
  for (const finding of findings) {
    const { kind, severity, bodies, pair } = finding
    const group = getGroup(finding)
    const key = `${group} ${kind} ${severity} ${bodies} ${pair}`
    const existing = groups.get(key)
    if (existing === undefined) groups.set(key, { group, occurrences: [finding] })
    else existing.occurrences.push(finding)
  }
  return [...groups.values()].map(({ group, occurrences }) => ({
    finding: joinOccurrences(occurrences),
    occurrences,
    group,
  }))
}

function joinOccurrences(occurrences: readonly Finding[]): Finding {
  const [first] = occurrences as readonly [Finding, ...Finding[]]
  if (occurrences.length === 1) return first
  const last = Math.max(...occurrences.map(({ frames }) => frames.last))
  const getExcess = ({ value, limit }: Finding): number => Math.abs(value) / (Math.abs(limit) || 1)
  const worst = occurrences.reduce((a, b) => (getExcess(b) > getExcess(a) ? b : a))
  return { ...worst, frames: { first: first.frames.first, last, peak: worst.frames.peak } }
}

const getFirstFrame = ({ frames }: Finding): number => frames.first

function explains(cause: Finding, finding: Finding): boolean {
  // A fault can show in the contact one frame earlier than in the state.
  const firstFrame = cause.frames.first - 1
  const lastFrame = isPermanent(cause) ? Number.POSITIVE_INFINITY : cause.frames.last + consequenceFrames
  const isBefore =
    finding.frames.first < firstFrame &&
    !(cause.kind === 'velocity_mismatch' && isCausedByMismatch(finding, cause))
  if (isBefore || finding.frames.first > lastFrame) return false
  if (cause.kind === 'frozen_time' || cause.kind === 'nonuniform_dt')
    return finding.frames.first <= cause.frames.last + 1
  const affectsSystem = cause.bodies.length === 0 || finding.bodies.length === 0
  return affectsSystem || cause.bodies.some((body) => finding.bodies.includes(body))
}

/** Whether the body no longer moves physically afterwards. */
const isPermanent = ({ kind }: Finding): boolean => kind === 'blow_up' || kind === 'nan'
