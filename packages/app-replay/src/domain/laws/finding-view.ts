/** Findings as they are answered, and in words. */
import type { Value } from '@causeway/recording'
import { count, quantity, readable, several } from '../sentence.ts'
import { evidenceCalls } from './evidence.ts'
import type { Finding, FindingKind } from './finding.ts'
import type { RankedFinding } from './ranking.ts'

/** A finding as plain JSON: what is no finite number is null, values have six digits. */
export interface FindingRow extends Omit<Finding, 'value' | 'limit'> {
  readonly value: Value
  readonly limit: Value
}

/** A ranked finding with the calls that show it. */
export interface RankedRow extends FindingRow {
  readonly id: string
  readonly follows: string | null
  readonly evidence_calls: readonly string[]
}

const digits = 6

const rounded = (value: number): Value => (Number.isFinite(value) ? Number(value.toPrecision(digits)) : null)

/** The row of a finding. */
export function findingRow({
  kind,
  severity,
  frames,
  bodies,
  pair,
  value,
  limit,
  unit,
  confidence,
}: Finding): FindingRow {
  const row = { kind, severity, frames, bodies, pair }
  return { ...row, value: rounded(value), limit: rounded(limit), unit, confidence }
}

/** The row of a ranked finding. */
export const rankedRow = (finding: RankedFinding): RankedRow => ({
  id: finding.id,
  ...findingRow(finding),
  follows: finding.follows,
  evidence_calls: finding.follows === null ? evidenceCalls(finding) : [],
})

/** What each kind says went wrong, to follow a subject. */
const words: Readonly<Record<FindingKind, string>> = {
  nan: 'has no numbers',
  missing_frames: 'frames are missing',
  frozen_time: 'the clock stands still',
  nonuniform_dt: 'the step is not the usual one',
  quaternion_norm: 'has an orientation that is no rotation',
  teleport: 'jumps without the velocity for it',
  blow_up: 'explodes',
  friction_cone: 'friction exceeds mu*Fn',
  restitution: 'does not bounce as its restitution says',
  normal_flip: 'the contact normal jumps',
  tunnelling: 'passes through something without contact',
  solver_stall: 'the solver does not converge',
  contact_chatter: 'contact comes and goes',
  momentum: 'changes its momentum without an impulse',
  energy_injection: 'gains energy from nowhere',
  dissipation_without_contact: 'loses energy without contact',
  energy_drift: 'gains energy little by little',
  penetration: 'overlap is too deep',
  jitter: 'jitters at rest',
  creep: 'creeps at rest',
}

/** One finding as a sentence without its full stop. */
export function findingSentence({ kind, frames, bodies, value, limit, unit }: Finding): string {
  const where =
    frames.first === frames.last ? `frame ${frames.first}` : `frames ${frames.first} to ${frames.last}`
  const who =
    bodies.length === 0 ? '' : bodies.length === 1 ? `body ${bodies[0]} ` : `bodies ${several(bodies)}: `
  return `${where}: ${who}${words[kind]} (${kind}, ${quantity(value, unit)}, limit ${readable(limit)})`
}

/** The diagnosis in a few sentences. */
export function diagnosisSummary(findings: readonly RankedFinding[], frames: number): string {
  const looked = `${count(frames, 'frame')} held against every law`
  const bad = findings.filter(({ severity }) => severity !== 'info')
  const [first] = bad
  if (first === undefined)
    return `${looked}: nothing is wrong${findings.length > 0 ? `; ${count(findings.length, 'remark')}` : ''}.`
  const causes = bad.filter(({ follows }) => follows === null)
  const effects = bad.length - causes.length
  const others = causes.length > 1 ? ` ${count(causes.length - 1, 'further finding')} of its own.` : ''
  const following = effects > 0 ? ` ${count(effects, 'consequence')} ranked behind.` : ''
  return `${looked}. First cause: ${findingSentence(first)}.${others}${following}`
}

/** A check of one or a few laws in words. */
export function checkSummary(findings: readonly Finding[], frames: number, about: string): string {
  const looked = `${count(frames, 'frame')} checked`
  const [first] = findings
  if (first === undefined) return `${looked}: ${about} holds.`
  return `${looked}: ${about} is broken in ${count(findings.length, 'run')}. First ${findingSentence(first)}.`
}
