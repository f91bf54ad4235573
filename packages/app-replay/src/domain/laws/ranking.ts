/** Findings in the order in which a person should look at them: the cause first, what follows from it behind. */
import { type Finding, findingKinds, type Severity } from './finding.ts'

/** A finding with its place; `follows` names the finding that explains it. */
export interface RankedFinding extends Finding {
  readonly id: string
  readonly follows: string | null
}

/** Frames after a fault within which what happens to the same bodies is taken for its consequence. */
const reach = 10

const severities: readonly Severity[] = ['error', 'warning', 'info']

/** Ranks findings: severity, then the first frame, then causes before consequences. Ids are `f1`, `f2`, … in this order. */
export function rankFindings(found: readonly Finding[]): readonly RankedFinding[] {
  const sorted = found.toSorted(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      startOf(a) - startOf(b) ||
      findingKinds.indexOf(a.kind) - findingKinds.indexOf(b.kind) ||
      b.confidence - a.confidence,
  )
  const causes: Finding[] = []
  const effects: { finding: Finding; cause: Finding }[] = []
  for (const finding of sorted) {
    const cause = causes.find((one) => explains(one, finding))
    if (cause === undefined) causes.push(finding)
    else effects.push({ finding, cause })
  }
  const ids = new Map(causes.map((finding, index) => [finding, `f${index + 1}`]))
  return [
    ...causes.map((finding) => ({ ...finding, id: ids.get(finding) ?? '', follows: null })),
    ...effects.map(({ finding, cause }, index) => ({
      ...finding,
      id: `f${causes.length + index + 1}`,
      follows: ids.get(cause) ?? null,
    })),
  ]
}

/** The first frame of a finding. */
const startOf = ({ frames }: Finding): number => frames.first

/** Is the second one a consequence of the first, as far as frames and bodies tell? */
function explains(cause: Finding, finding: Finding): boolean {
  // Faults of one and the same moment show a frame apart: the contact of a step, and the state that it led to.
  const from = cause.frames.first - 1
  const until = isLasting(cause) ? Number.POSITIVE_INFINITY : cause.frames.last + reach
  if (finding.frames.first < from || finding.frames.first > until) return false
  if (cause.kind === 'frozen_time' || cause.kind === 'nonuniform_dt')
    return finding.frames.first <= cause.frames.last + 1
  const isSystem = cause.bodies.length === 0 || finding.bodies.length === 0
  return isSystem || cause.bodies.some((body) => finding.bodies.includes(body))
}

/** After these nothing about the body is physics any more. */
const isLasting = ({ kind }: Finding): boolean => kind === 'blow_up' || kind === 'nan'
