/**
 * Measures how well Replay finds faults: diagnoses every recording of the committed and the generated set, and compares the first
 * finding with the actual fault.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedRecordings } from '../../fixtures/generate/generated/generated.ts'
import type { RankedFinding } from '../../packages/app-replay/src/domain/findings/ranking.ts'
import { number, type Section } from '../report.ts'
import { median } from '../rounds.ts'
import { diagnoseFile } from './planted.ts'

/** The fault of a recording, as its generator declares it. */
export interface Injected {
  readonly kind: string
  readonly first_frame: number
  readonly bodies: readonly number[]
}

/** A recording with its actual fault and the findings. */
export interface Case {
  readonly name: string
  readonly fault: Injected | null
  readonly findings: readonly RankedFinding[]
  readonly ms: number
}

/** Whether the fault ranks first, or nothing more severe than info is found in a recording without a fault. */
export function isRight({ fault, findings }: Pick<Case, 'fault' | 'findings'>): boolean {
  if (fault === null) return findings.every(({ severity }) => severity === 'info')
  const [first] = findings
  if (first === undefined || first.kind !== fault.kind) return false
  const isThere =
    fault.bodies.length === 0 ||
    first.bodies.length === 0 ||
    fault.bodies.some((id) => first.bodies.includes(id))
  return isThere && Math.abs(first.frames.first - fault.first_frame) <= 1
}

/** Older names of fault kinds in the committed set. */
const renamed: Readonly<Record<string, string>> = { cone_violation: 'friction_cone' }

/** Diagnoses every recording of the committed and the generated set. */
export async function diagnoseAll(): Promise<readonly Case[]> {
  const root = join(import.meta.dirname, '../..')
  const committed = join(root, 'fixtures/recordings')
  const { files } = JSON.parse(readFileSync(join(committed, 'manifest.json'), 'utf8')) as {
    files: {
      name: string
      era: string | null
      fault: { kind: string; frame: number; bodies: number[] } | null
    }[]
  }
  const odd = ['asset_database.db', 'empty.db', 'not_a_database.db']
  const known = files
    .filter(({ name }) => !odd.includes(name))
    .map(({ name, fault }) => ({
      path: join(committed, name),
      name: name.replace('.db', ''),
      fault: fault
        ? { kind: renamed[fault.kind] ?? fault.kind, first_frame: fault.frame, bodies: fault.bodies }
        : null,
    }))
  const { folder, manifest } = await generatedRecordings()
  known.push(
    ...manifest.recordings.map(({ name, fault }) => ({
      path: join(folder, `${name}.db`),
      name,
      fault: fault && { ...fault, bodies: [...fault.bodies] },
    })),
  )
  const cases: Case[] = []
  for (const { path, name, fault } of known) {
    const before = performance.now()
    const { findings } = await diagnoseFile(path)
    cases.push({ name, fault, findings, ms: performance.now() - before })
  }
  return cases
}

/** The quality of the first findings. */
export interface Score {
  /** Share of faults that rank first. */
  readonly recall: number
  /** Share of recordings with findings whose first finding is the fault. */
  readonly precision: number
  readonly wrong: readonly Case[]
}

/** Returns the scores of the cases. */
export function computeScore(cases: readonly Case[]): Score {
  const faulty = cases.filter(({ fault }) => fault !== null)
  const right = faulty.filter(isRight)
  // A fault may be reported as info.
  const reported = cases.filter(
    (one) => right.includes(one) || one.findings.some(({ severity }) => severity !== 'info'),
  )
  return {
    recall: right.length / faulty.length,
    precision: reported.length === 0 ? 1 : right.length / reported.length,
    wrong: cases.filter((one) => !isRight(one)),
  }
}

/** Returns the score over both sets and the faults that were not found. */
export async function measureDiagnosis(): Promise<Section> {
  const cases = await diagnoseAll()
  const { recall, precision, wrong } = computeScore(cases)
  const faulty = cases.filter(({ fault }) => fault !== null).length
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
  return {
    title: 'Diagnosis',
    about:
      'Every recording with a known fault, and every clean one. The fault must rank first, with the correct kind, body and frame.',
    head: ['recordings', 'with a fault', 'recall', 'precision', 'median ms', 'wrong'],
    rows: [
      [
        String(cases.length),
        String(faulty),
        percent(recall),
        percent(precision),
        number(median(cases.map(({ ms }) => ms))),
        wrong.map(({ name }) => name).join(', ') || 'none',
      ],
    ],
  }
}
