import type { RecordingSummary, Value } from '@causeway/recording'
import { type BodyNames, nameBodies } from '../bodies/body-names.ts'
import type { Coverage } from '../coverage/coverage.ts'
import { formatCount, formatFrames, formatQuantity, roundDerived, toSentence } from '../sentence.ts'
import { listEvidenceCalls } from './evidence.ts'
import type { Finding, FindingKind } from './finding.ts'
import type { RankedFinding } from './ranking.ts'

/** Values have six digits; `null` if not finite. */
export interface FindingRow extends Omit<Finding, 'value' | 'limit' | 'text' | 'advice' | 'rank'> {
  readonly sentence: string
  readonly value: Value
  readonly limit: Value
}

interface RankedRow extends FindingRow {
  readonly id: string
  readonly follows: string | null
  readonly caused_by: string | null
  readonly count: number
  readonly evidence_calls: readonly string[]
}

const roundValue = (value: number): Value => (Number.isFinite(value) ? roundDerived(value) : null)

export function toFindingRow(finding: Finding, names: BodyNames): FindingRow {
  const { kind, severity, frames, bodies, pair, value, limit, unit, confidence } = finding
  const sentences = [toSentence(describeFinding(finding, names)), ...listAdvice(finding)]
  const row = {
    kind,
    severity,
    frames,
    bodies,
    pair,
    value: roundValue(value),
    limit: roundValue(limit),
    unit,
  }
  return { ...row, confidence, sentence: sentences.join(' ') }
}

export const toRankedRow = (
  finding: RankedFinding,
  names: BodyNames,
  recorded: RecordingSummary['frames'],
): RankedRow => ({
  id: finding.id,
  ...toFindingRow(finding, names),
  follows: finding.follows,
  caused_by: finding.caused_by,
  count: finding.count,
  evidence_calls: finding.follows === null ? listEvidenceCalls(finding, recorded) : [],
})

const predicates: Readonly<Record<FindingKind, string>> = {
  nan: 'has missing numbers',
  missing_frames: 'frames are missing',
  frozen_time: 'the clock does not advance',
  nonuniform_dt: 'the time step varies',
  quaternion_norm: 'has an orientation that is not a rotation',
  invalid_impulse: 'a contact impulse is not a number',
  missing_contact: 'they touch without a contact row',
  contact_gap: 'their contact acts across a gap',
  energy_rows: 'has energies that contradict its state',
  invalid_mass: 'has a mass that is not positive',
  invalid_body_id: 'is in contacts but was not recorded',
  duplicate_state: 'has the same state as in the frame before although it moves',
  missing_reaction: 'only one body reacts to their contact',
  unequal_reaction: 'action and reaction of their contact differ',
  attractive_impulse: 'the contact pulls instead of pushing',
  friction_energy: 'friction pushes along the sliding direction',
  friction_lost: 'friction is less than mu*Fn while they slide',
  velocity_mismatch: 'moves differently from its velocity',
  unit_mismatch: 'has a quantity in the wrong unit',
  frozen_orientation: 'spins, but its orientation does not change',
  spin_mismatch: 'turns differently from its angular velocity',
  angular_momentum: 'changes its spin without the torque for it',
  unexplained_acceleration: 'has a constant acceleration that gravity does not explain',
  teleport: 'jumps without the velocity for it',
  blow_up: 'explodes',
  friction_cone: 'friction exceeds mu*Fn',
  restitution: 'bounces differently from its restitution',
  normal_flip: 'the contact normal jumps',
  tunnelling: 'passes through something without contact',
  solver_stall: 'the solver does not converge',
  contact_chatter: 'contact flickers',
  joint_drift: 'the ends of their joint drift apart',
  momentum: 'changes its momentum without an impulse',
  energy_injection: 'gains energy without a cause',
  dissipation_without_contact: 'loses energy without contact',
  energy_drift: 'gains energy gradually',
  penetration: 'overlap is too deep',
  jitter: 'jitters at rest',
  creep: 'creeps at rest',
}

const singularVerbs =
  'has is passes moves spins turns changes jumps explodes bounces gains loses jitters creeps falls slows'.split(
    ' ',
  )

/** Returns a sentence without its final period. */
export function describeFinding(finding: Finding, names: BodyNames): string {
  const { kind, frames, bodies, value, limit, unit, text } = finding
  const frameText = formatFrames(frames.first, frames.last)
  const predicate = text ?? predicates[kind]
  const separator = bodies.length > 1 && !startsWithVerb(predicate) ? ': ' : ' '
  const subject = bodies.length === 0 ? '' : `${nameBodies(bodies, names)}${separator}`
  const limitUnit = unit.startsWith('times ') ? '' : unit
  const limitText =
    limit === 0 || !Number.isFinite(limit) ? '' : `, limit ${formatQuantity(limit, limitUnit)}`
  return `${frameText}: ${subject}${bodies.length > 1 ? toPlural(predicate) : predicate} (${formatQuantity(value, unit)}${limitText})`
}

const startsWithVerb = (predicate: string): boolean => singularVerbs.includes(predicate.split(' ')[0] ?? '')

const pluralVerbs: Readonly<Record<string, string>> = { has: 'have', is: 'are', passes: 'pass' }

/** Converts `gains energy` to `gain energy`. */
function toPlural(predicate: string): string {
  if (!startsWithVerb(predicate)) return predicate
  const [verb = '', ...rest] = predicate.split(' ')
  return [pluralVerbs[verb] ?? verb.slice(0, -1), ...rest].join(' ').replace(' its ', ' their ')
}

interface Checked {
  readonly frames: number
  readonly coverage: Coverage
  readonly names: BodyNames
}

export function summarizeDiagnosis(
  findings: readonly RankedFinding[],
  { frames, coverage, names }: Checked,
): string {
  const checked = `${describeChecked(frames, coverage)}.`
  const faults = findings.filter(({ severity }) => severity !== 'info')
  const [first] = faults
  if (first === undefined) {
    const remarkText = findings.length > 0 ? `; ${formatCount(findings.length, 'remark')}` : ''
    const limitation = isComplete(coverage) ? '' : ' in what was checked'
    return coverage.checked.length === 0 ? checked : `${checked} No fault found${limitation}${remarkText}.`
  }
  const causeCount = faults.filter(({ follows }) => follows === null).length
  const sentences = [checked, `First cause: ${describeFinding(first, names)}.`, ...listAdvice(first)]
  if (causeCount > 1) sentences.push(`${formatCount(causeCount - 1, 'further cause')}.`)
  if (faults.length > causeCount) sentences.push(`${formatCount(faults.length - causeCount, 'consequence')}.`)
  return sentences.join(' ')
}

const listAdvice = ({ advice }: Finding): readonly string[] => (advice === undefined ? [] : [advice])

export function summarizeCheck(
  findings: readonly Finding[],
  { frames, coverage, names }: Checked,
  subject: string,
): string {
  const [first] = findings
  const verdict =
    first === undefined
      ? describeNoFindings(coverage, subject)
      : `${subject} is violated in ${formatCount(findings.length, 'run')}. First: ${describeFinding(first, names)}`
  return isComplete(coverage)
    ? `Checked ${formatCount(frames, 'frame')}: ${verdict}.`
    : `${describeChecked(frames, coverage)}. ${toSentence(verdict)}`
}

function describeNoFindings(coverage: Coverage, subject: string): string {
  if (coverage.checked.length === 0)
    return isComplete(coverage) ? `${subject} does not apply` : `nothing can be said about ${subject}`
  return isComplete(coverage) ? `${subject} holds` : `no violation of ${subject} in what was checked`
}

const isComplete = ({ not_checked }: Coverage): boolean => not_checked.length === 0

const maxMissing = 5

/** Returns text such as `Checked 100 frames: 15 of the 18 laws that apply (not recorded: inertia)`. */
function describeChecked(frames: number, { checked, not_checked }: Coverage): string {
  const partialCount = not_checked.filter(({ law }) => checked.includes(law)).length
  const total = checked.length + not_checked.length - partialCount
  if (frames === 0) return 'There are no frames to check'
  const head = `Checked ${formatCount(frames, 'frame')}`
  if (total === 0) return `${head}: no law applies`
  const missingText = describeMissing(not_checked)
  if (checked.length === 0)
    return `${head}: ${total === 1 ? 'the law that applies' : `none of the ${total} laws that apply`} could ${total === 1 ? 'not ' : ''}be checked completely${missingText}`
  const laws =
    total === 1
      ? 'the law that applies'
      : `${checked.length === total ? 'all' : `${checked.length} of the`} ${total} laws that apply`
  const part =
    partialCount === 0
      ? ''
      : partialCount === checked.length
        ? ', in part'
        : `, ${partialCount} of them in part`
  return `${head}: ${laws}${part}${missingText}`
}

function describeMissing(notChecked: Coverage['not_checked']): string {
  const names = [...new Set(notChecked.flatMap(({ missing }) => missing))]
  if (names.length === 0) return ''
  const moreText = names.length > maxMissing + 1 ? ` and ${names.length - maxMissing} more` : ''
  return ` (not recorded: ${names.slice(0, moreText === '' ? names.length : maxMissing).join(', ')}${moreText})`
}
