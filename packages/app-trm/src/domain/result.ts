/** What an evaluation came to, as it is stored and told. */

import { counted } from './counted.ts'
import type { Coverage } from './coverage.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { Guard } from './guard.ts'
import type { Decision } from './halting.ts'
import type { Metric } from './metric.ts'
import type { TestRun } from './report/test-run.ts'
import type { ScoredSignal } from './signal.ts'
import type { Tampering } from './tamper.ts'

/** A test that did not pass. */
export interface Failure {
  readonly id: string
  readonly status: string
  readonly file?: string | undefined
  readonly line?: number | undefined
  /** at most 1500 characters */
  readonly message: string
}

/** How one command went. */
export interface StageSummary {
  readonly stage: string
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly ms: number
  /** bytes written to both streams, of which the stored output may hold a part */
  readonly bytes: number
  readonly truncated: boolean
}

/** One evaluation, whole. */
export interface EvalResult extends Decision {
  readonly step: number
  readonly kind: 'baseline' | 'submit' | 'rerun'
  readonly score: number
  /** moving average of the scores of candidates; the score itself before the second one */
  readonly emaScore: number
  readonly bestScore: number
  readonly noImproveStreak: number
  /** what the tests came to; null without a test command, or where its output could not be read */
  readonly tests: { readonly passed: number; readonly failed: number; readonly total: number } | null
  /** null where no such command is configured */
  readonly okBuild: boolean | null
  readonly okDataQuality: boolean | null
  readonly okLint: boolean | null
  readonly perf: (Metric & { readonly best: number | null }) | null
  readonly signals: readonly ScoredSignal[]
  /** failures first */
  readonly feedback: readonly string[]
  readonly failures: readonly Failure[]
  /** ids of all that failed, at most 200; absent in results of an earlier version */
  readonly failing?: readonly string[]
  /** tests of the baseline that did not run, at most 20 named */
  readonly missing: readonly string[]
  readonly missingCount: number
  readonly newlySkipped: readonly string[]
  readonly broken: readonly string[]
  readonly repaired: readonly string[]
  readonly tamper: readonly Tampering[]
  /** null where the session has not changed what judges it, or where it would not matter */
  readonly guard: Guard | null
  /** what a command has measured of it; told, and not scored */
  readonly coverage: Coverage | null
  readonly warnings: readonly string[]
  /** what confined the commands: `work copy`, `process group`, `limits`, `bwrap` */
  readonly isolation: readonly string[]
  readonly stages: readonly StageSummary[]
  readonly filesChanged: readonly string[]
  /** whether the candidate is in the user's project now */
  readonly landed: boolean
  readonly ms: number
}

/** What later evaluations are compared with. */
export interface Baseline {
  readonly tests: TestRun | undefined
  readonly diagnostics: Readonly<Record<string, readonly Diagnostic[]>>
}

/** One sentence on an evaluation. */
export function resultSummary({
  step,
  kind,
  score,
  tests,
  signals,
  shouldHalt,
  rule,
  reasons,
  missingCount,
}: EvalResult): string {
  const what = kind === 'baseline' ? 'Baseline' : `Step ${step}`
  const bad = signals.filter(({ ok }) => !ok).map(({ name, why }) => `${name}: ${why}`)
  const good = signals.length === 0 ? 'no command is given, so nothing was judged' : 'every signal is good'
  const state = bad.length === 0 ? good : bad.join('; ')
  const lost = missingCount > 0 ? ` ${counted(missingCount, 'test')} of the baseline did not run.` : ''
  const passed = tests === null ? '' : ` ${tests.passed}/${tests.total} tests pass.`
  const verdict = shouldHalt ? ` Stop: ${reasons[0] ?? rule}.` : kind === 'baseline' ? '' : ' Go on.'
  return `${what}: score ${Math.round(score * 1e4) / 1e4}; ${state}.${passed}${lost}${verdict}`
}

/** Ids of the tests that failed in an evaluation. */
export const failingIds = (result: EvalResult | undefined): readonly string[] =>
  result?.failing ?? result?.failures.map(({ id }) => id) ?? []

/** A result as clients get it: those of `failing` that matter to them stand in `failures`. */
export function toldResult(result: EvalResult) {
  const { failing: _, ...told } = result
  return { ...told, summary: resultSummary(result) }
}
