/** The second evaluation of a step (README, Protection of tests). */
import type { TestRun } from '../report/test-run.ts'
import type { Evidence } from './judge-signal.ts'
import { checksPass, epsilon, type Score } from './score.ts'
import type { Suspicion } from './suspicion.ts'

export interface GuardFinding {
  readonly files: readonly string[]
  /** Results with the restored files; `undefined` without any. */
  readonly evidence: readonly Evidence[] | undefined
  /** Whether the runner reported the altered tests, which must fail; `not possible` if no test can be altered. */
  readonly probe: 'reported' | 'not reported' | 'not possible'
  readonly suspicions: readonly Suspicion[]
}

/** The guard as clients receive it. */
export interface Guard {
  readonly files: readonly string[]
  readonly score: number
  readonly tests: { readonly passed: number; readonly failed: number; readonly total: number } | null
  readonly passes: boolean
  /** Whether the second evaluation confirms the score. */
  readonly confirms: boolean
  /** Failed signals: `test: 1 of 3 passed, exit 1`. */
  readonly why: readonly string[]
  readonly probe: GuardFinding['probe']
  readonly suspicions: readonly string[]
}

/** Returns the results of the second evaluation, with 0 for distrusted ones. */
export function selectGuardEvidence(
  first: readonly Evidence[],
  { evidence = first, probe, suspicions }: GuardFinding,
): readonly Evidence[] {
  return evidence.map((one): Evidence => {
    const { kind } = one.finding.spec
    const reasons = [
      ...(kind === 'test' && probe === 'not reported'
        ? ['a test that must fail was not reported as failed']
        : []),
      ...suspicions.filter((suspicion) => suspicion.kind === kind).map(formatSuspicion),
    ]
    if (reasons.length === 0) return one
    return { ...one, finding: { ...one.finding, distrust: `not trusted: ${reasons.slice(0, 3).join(', ')}` } }
  })
}

export const createGuard = (
  { files, probe, suspicions }: GuardFinding,
  first: Score,
  second: Score,
  tests: Guard['tests'],
): Guard => ({
  files,
  score: second.score,
  tests,
  passes: checksPass(second.signals),
  confirms: second.score >= first.score - epsilon,
  why: second.signals.filter(({ ok }) => !ok).map(({ name, why }) => `${name}: ${why}`),
  probe,
  suspicions: suspicions.map(formatSuspicion),
})

const formatSuspicion = ({ path, line, why }: Suspicion): string => `${path}:${line} ${why}`

export const summarizeTests = (run: TestRun | undefined): Guard['tests'] =>
  run === undefined
    ? null
    : {
        passed: run.passed,
        failed: run.failed + run.errors,
        total: run.passed + run.failed + run.errors,
      }

export function formatGuard({ files, why }: Guard): string {
  const changed = files.length === 0 ? '' : `with ${files.join(', ')} as at the start `
  const subject =
    files.length === 0 ? 'this code' : `the change of ${files.length === 1 ? 'this file' : 'these files'}`
  return `no success: ${changed}the checks do not pass (${why.join('; ')}). Correct the code, or start with options.protect [] if ${subject} is intended`
}
