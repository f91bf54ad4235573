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

/** Sorts findings by severity, first frame, and causes before consequences. Assigns ids in this order. */
export function rankFindings(found: readonly Finding[]): readonly RankedFinding[] {
  const sorted = moveMismatches(
    found.toSorted(
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
    const cause = causes.find((one) => explains(one, finding))
    // Repeats are not causes. Later findings follow from the first occurrence.
    if (cause === undefined || isRepeat(cause, finding)) causes.push(finding)
    else causeByEffect.set(finding, cause)
  }
  const joined = joinRepeats(causes)
  const ids = new Map(joined.flatMap(({ all }, index) => all.map((one) => [one, `f${index + 1}`] as const)))
  const joinedEffects = joinRepeats(
    [...causeByEffect.keys()],
    (finding) => ids.get(causeByEffect.get(finding) ?? finding) ?? '',
  )
  return [
    ...joined.map(({ finding, all }, index) => ({
      ...finding,
      id: `f${index + 1}`,
      follows: null,
      caused_by: null,
      count: all.length,
    })),
    ...joinedEffects.map(({ finding, all, group }, index) => ({
      ...finding,
      id: `f${joined.length + index + 1}`,
      follows: group,
      caused_by: group,
      count: all.length,
    })),
  ]
}

/** Moves mismatches before their effects, which are detected first while a body accelerates. */
function moveMismatches(sorted: readonly Finding[]): readonly Finding[] {
  const moved = [...sorted]
  for (const mismatch of sorted) {
    if (mismatch.kind !== 'velocity_mismatch') continue
    const from = moved.indexOf(mismatch)
    const to = moved.findIndex((finding) => isFromVelocity(finding, mismatch))
    if (to >= 0 && to < from) moved.splice(to, 0, ...moved.splice(from, 1))
  }
  return moved
}

/** Kinds computed from recorded velocities. */
const velocityKinds: ReadonlySet<Finding['kind']> = new Set([
  'momentum',
  'energy_injection',
  'energy_drift',
  'dissipation_without_contact',
  'unexplained_acceleration',
])

const isFromVelocity = (finding: Finding, { frames, bodies, severity }: Finding): boolean =>
  velocityKinds.has(finding.kind) &&
  finding.severity === severity &&
  finding.frames.first < frames.first &&
  finding.frames.last >= frames.first - 1 &&
  String(finding.bodies) === String(bodies)

/** Ranks a collision that adds energy like an unequal reaction. */
const getKindRank = ({ kind, pair, rank = kind }: Finding): number =>
  findingKinds.indexOf(kind === 'energy_injection' && pair !== null ? 'unequal_reaction' : rank)

interface Repeated {
  readonly finding: Finding
  readonly all: readonly Finding[]
  readonly group: string
}

const isRepeat = (a: Finding, b: Finding): boolean =>
  a.kind === b.kind &&
  a.severity === b.severity &&
  String(a.bodies) === String(b.bodies) &&
  String(a.pair) === String(b.pair)

/** The first finding's frames determine the order. */
function joinRepeats(
  findings: readonly Finding[],
  getGroup: (finding: Finding) => string = () => '',
): readonly Repeated[] {
  const groups = new Map<string, { group: string; all: Finding[] }>()
  for (const finding of findings) {
    const { kind, severity, bodies, pair } = finding
    const group = getGroup(finding)
    const key = `${group} ${kind} ${severity} ${bodies} ${pair}`
    const known = groups.get(key)
    if (known === undefined) groups.set(key, { group, all: [finding] })
    else known.all.push(finding)
  }
  return [...groups.values()].map(({ group, all }) => ({ finding: join(all), all, group }))
}

function join(all: readonly Finding[]): Finding {
  const [first] = all as readonly [Finding, ...Finding[]]
  if (all.length === 1) return first
  const last = Math.max(...all.map(({ frames }) => frames.last))
  const excess = ({ value, limit }: Finding): number => Math.abs(value) / (Math.abs(limit) || 1)
  const worst = all.reduce((a, b) => (excess(b) > excess(a) ? b : a))
  return { ...worst, frames: { first: first.frames.first, last, peak: worst.frames.peak } }
}

const getFirstFrame = ({ frames }: Finding): number => frames.first

function explains(cause: Finding, finding: Finding): boolean {
  // A fault can show in the contact one frame earlier than in the state.
  const from = cause.frames.first - 1
  const until = isLasting(cause) ? Number.POSITIVE_INFINITY : cause.frames.last + consequenceFrames
  const isBefore =
    finding.frames.first < from && !(cause.kind === 'velocity_mismatch' && isFromVelocity(finding, cause))
  if (isBefore || finding.frames.first > until) return false
  if (cause.kind === 'frozen_time' || cause.kind === 'nonuniform_dt')
    return finding.frames.first <= cause.frames.last + 1
  const isSystem = cause.bodies.length === 0 || finding.bodies.length === 0
  return isSystem || cause.bodies.some((body) => finding.bodies.includes(body))
}

/** Whether the body no longer moves physically afterwards. */
const isLasting = ({ kind }: Finding): boolean => kind === 'blow_up' || kind === 'nan'
