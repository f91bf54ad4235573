import type { RecordingSummary, RunSummary, RunVerdict, WorstValues } from '@causeway/recording'
import type { Coverage } from '../coverage/coverage.ts'
import { type Finding, findingKinds } from '../findings/finding.ts'

export interface WholeDiagnosis {
  readonly findings: readonly Finding[]
  readonly coverage: Coverage
  readonly worst: WorstValues
}

type Identity = Pick<RunSummary, 'recording' | 'name' | 'revision' | 'sealed_ms' | 'status'>

export function summarizeRun(
  identity: Identity,
  { frames, bodies, first_time_s, last_time_s, provenance }: RecordingSummary,
  diagnosis: WholeDiagnosis | null,
): RunSummary {
  return {
    ...identity,
    frames: frames?.total_frames ?? 0,
    bodies: bodies.length,
    duration_s: first_time_s === null || last_time_s === null ? null : last_time_s - first_time_s,
    commit: provenance?.commit ?? null,
    branch: provenance?.branch ?? null,
    scenario: provenance?.scenario ?? null,
    seed: provenance?.seed ?? null,
    host: provenance?.host ?? null,
    engine_version: provenance?.engine_version ?? null,
    tags: provenance?.tags ?? [],
    verdict: diagnosis && createVerdict(diagnosis),
  }
}

function createVerdict({ findings, coverage, worst }: WholeDiagnosis): RunVerdict {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const [first] = errors.toSorted(
    (a, b) => a.frames.first - b.frames.first || findingKinds.indexOf(a.kind) - findingKinds.indexOf(b.kind),
  )
  return {
    ...worst,
    checked: coverage.checked,
    not_checked: coverage.not_checked.map(({ law }) => law),
    errors: errors.length,
    kinds: [...new Set(errors.map(({ kind }) => kind))].sort(),
    first_bad_frame: first?.frames.first ?? null,
    first_bad_kind: first?.kind ?? null,
  }
}
