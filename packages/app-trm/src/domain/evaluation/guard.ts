/** The second evaluation of a step (README, Protection of tests). */
import type { TestRun } from '../report/test-run.ts'
import type { Evidence } from './judge-signal.ts'
import { checksPass, epsilon, type Score } from './score.ts'
import type { Suspicion } from './suspicion.ts'

export interface GuardFinding {
  readonly files: readonly string[]
  /** Results with the restored files, or `undefined` if no files were restored. */
  readonly evidence: readonly Evidence[] | undefined
  /**
   * Whether the runner reported the failures of the added and altered tests, which always fail. `not possible` if no
   * tests can be added.
   */
  readonly probe: 'reported' | 'not reported' | 'not possible'
  readonly suspicions: readonly Suspicion[]
}

export interface Guard {
  readonly files: readonly string[]
  readonly score: number
  readonly tests: { readonly passed: number; readonly failed: number; readonly total: number } | null
  readonly passes: boolean
  /** Whether the second evaluation confirms the score, and the caller accepted all doubtful code. */
  readonly confirms: boolean
  /** Reasons for failed signals, such as `test: 1 of 3 passed, exit 1`. */
  readonly why: readonly string[]
  readonly probe: GuardFinding['probe']
  readonly suspicions: readonly string[]
  /** Doubts, which withhold a success until the caller accepts their files. */
  readonly doubts?: readonly Doubt[]
}

interface Doubt {
  readonly path: string
  readonly text: string
}

/** Returns the results of the second evaluation. Results that cannot be trusted have the value 0. */
export function selectGuardEvidence(
  first: readonly Evidence[],
  { evidence = first, probe, suspicions }: GuardFinding,
): readonly Evidence[] {
  return evidence.map((stage): Evidence => {
    const { kind } = stage.finding.spec
    const reasons = [
      ...(kind === 'test' && probe === 'not reported'
        ? ['a test that must fail was not reported as failed']
        : []),
      ...suspicions.filter((suspicion) => suspicion.kind === kind).map(formatSuspicion),
    ]
    if (reasons.length === 0) return stage
    return {
      ...stage,
      finding: { ...stage.finding, distrustReason: `not trusted: ${reasons.slice(0, 3).join(', ')}` },
    }
  })
}

export const createGuard = (
  { files, probe, suspicions }: GuardFinding,
  first: Score,
  second: Score,
  { tests, accepted }: { readonly tests: Guard['tests']; readonly accepted: readonly string[] },
): Guard => {
  const doubts = suspicions
    .filter(({ kind, path }) => kind === 'doubt' && !accepted.includes(path))
    .map((suspicion) => ({ path: suspicion.path, text: formatSuspicion(suspicion) }))
  return {
    files,
    score: second.score,
    tests,
    passes: checksPass(second.signals),
    confirms: second.score >= first.score - epsilon && doubts.length === 0,
    why: second.signals.filter(({ ok }) => !ok).map(({ name, why }) => `${name}: ${why}`),
    probe,
    suspicions: suspicions.map(formatSuspicion),
    ...(doubts.length === 0 ? {} : { doubts }),
  }
}

const formatSuspicion = ({ path, line, why }: Suspicion): string => `${path}:${line} ${why}`

export const summarizeTests = (run: TestRun | undefined): Guard['tests'] =>
  run === undefined
    ? null
    : {
        passed: run.passed,
        failed: run.failed + run.errors,
        total: run.passed + run.failed + run.errors,
      }

export function formatGuard({ files, why, passes, doubts = [] }: Guard): string {
  const [doubt] = doubts
  if (passes && doubt !== undefined) {
    const paths = JSON.stringify([...new Set(doubts.map(({ path }) => path))].slice(0, 5))
    return `no success: ${doubts
      .slice(0, 3)
      .map(({ text }) => text)
      .join('; ')}. Remove this code or, if it is intended, submit again with accept ${paths}`
  }
  const restoredText = files.length === 0 ? '' : `with ${files.join(', ')} as at the start `
  return `no success: ${restoredText}the checks do not pass (${why.join('; ')}). Correct the code, or start with options.protect [] if ${files.length === 0 ? 'this code' : `the change of ${files.length === 1 ? 'this file' : 'these files'}`} is intended`
}
