/** From the findings of an evaluation to its result: signals, score, standing, decision, feedback. Pure. */

import { coverageSignal, endWhy, judged, type StageFinding } from './evaluation.ts'
import { bounds, failingOf, failuresOf, feedbackOf } from './evaluation-feedback.ts'
import type { Problem } from './feedback/problem.ts'
import { type Guard, guarded, guardText } from './guard.ts'
import { decide, undecided } from './halting.ts'
import type { Metric } from './metric.ts'
import type { Comparison } from './report/compare-tests.ts'
import { totalOf } from './report/test-run.ts'
import type { Baseline, EvalResult, StageSummary } from './result.ts'
import { isolationOf } from './sandbox.ts'
import { advanced, type PerfOutcome, type Score, type Standing, scored } from './score.ts'
import type { SessionConfig } from './session-config.ts'
import { tampering } from './tamper.ts'

/** A command's finding beside its output. */
export interface Evidence {
  readonly finding: StageFinding
  readonly summary: StageSummary
  readonly stdout: string
  readonly stderr: string
}

/** What an evaluation is judged by. */
export interface Assessment {
  readonly config: SessionConfig
  readonly kind: EvalResult['kind']
  readonly standing: Standing
  readonly baseline: Baseline | null
  readonly evidence: readonly Evidence[]
  /** what the outputs say is wrong, for the advice on it */
  readonly problems?: readonly Problem[]
  readonly filesChanged: readonly string[]
  readonly warnings: readonly string[]
  readonly ms: number
  /** the judgement by the files that judge as they were at the start, where the session has changed any */
  readonly guard?: Guard | null
}

/** The result, the standing after it, and what later evaluations are compared with. */
export interface Assessed {
  readonly result: EvalResult
  readonly standing: Standing
  readonly baseline: Baseline
}

const nothing: Comparison = { missing: [], missingCount: 0, newlySkipped: [], broken: [], repaired: [] }

/** Judges an evaluation. The first one of a session, baseline or not, is what later ones are compared with. */
export function assess({
  config,
  kind,
  standing,
  baseline,
  evidence,
  problems = [],
  filesChanged,
  warnings,
  ms,
  guard = null,
}: Assessment): Assessed {
  const bestPerf = bestOf(standing)
  const signals = evidence.map(({ finding, stdout, stderr }) => ({
    ...judged(finding, {
      baselineTests: baseline?.tests,
      baselineDiagnostics: baseline?.diagnostics ?? {},
      bestPerf,
      goal: config.perf.goal,
      allowTestRemoval: config.allowTestRemoval,
      graded: config.graded,
    }),
    stdout,
    stderr,
  }))
  const coverage = evidence.find(({ finding }) => finding.coverage !== undefined)?.finding.coverage ?? null
  const score = scored([
    ...signals.map(({ value }) => value),
    ...(config.coverageWeight > 0 ? [coverageSignal(coverage, config.coverageWeight)] : []),
  ])
  const metric = measured(evidence)?.metric
  const after = advanced(standing, {
    score: score.score,
    isBaseline: kind === 'baseline',
    alpha: config.ema,
    perf: perfOutcome(config, evidence, score),
  })
  const decision = kind === 'baseline' ? undecided : guarded(decide(after, score, config.halt), guard)
  const run = evidence.find(({ finding }) => finding.spec.kind === 'test')?.finding.tests
  const comparison = signals.find(({ comparison: one }) => one !== undefined)?.comparison ?? nothing
  const tamper = tampering(
    filesChanged,
    config.signals.map(({ command }) => command),
  )
  const failures = failuresOf(run)
  const ok = (name: string): boolean | null => score.signals.find((one) => one.name === name)?.ok ?? null
  const result: EvalResult = {
    step: after.step,
    kind,
    score: score.score,
    emaScore: after.ema ?? score.score,
    bestScore: after.best_score,
    noImproveStreak: after.streak,
    tests:
      run === undefined ? null : { passed: run.passed, failed: run.failed + run.errors, total: totalOf(run) },
    okBuild: ok('build'),
    okDataQuality: ok('dataQual'),
    okLint: ok('lint'),
    perf: metric === undefined ? null : { ...metric, best: after.best_perf },
    ...decision,
    signals: score.signals,
    guard,
    coverage,
    feedback: feedbackOf({
      urgent: guard === null || guard.passes ? [] : [guardText(guard)],
      failures,
      problems,
      failedCount: run === undefined ? 0 : run.failed + run.errors,
      comparison,
      bad: signals
        .filter(({ value }) => !value.ok)
        .map(({ value, stdout, stderr, fresh = [] }) => ({ value, stdout, stderr, fresh })),
      tamper,
      good: score.signals.filter((one) => one.ok),
    }),
    failures,
    failing: failingOf(run),
    missing: comparison.missing.slice(0, bounds.names),
    missingCount: comparison.missingCount,
    newlySkipped: comparison.newlySkipped.slice(0, bounds.names),
    broken: comparison.broken.slice(0, bounds.names),
    repaired: comparison.repaired.slice(0, bounds.names),
    tamper,
    warnings: [...warnings, ...evidence.flatMap(({ finding }) => misconfigured(finding))],
    isolation: isolationOf(config),
    stages: evidence.map(({ summary }) => summary),
    filesChanged,
    landed: kind !== 'baseline',
    ms,
  }
  const first: Baseline = {
    tests: run,
    diagnostics: Object.fromEntries(
      evidence.flatMap(({ finding: { spec, diagnostics } }) =>
        spec.kind === 'lint' && diagnostics !== undefined ? [[spec.name, diagnostics]] : [],
      ),
    ),
  }
  return { result, standing: after, baseline: baseline ?? withoutText(first) }
}

const measured = (evidence: readonly Evidence[]): StageFinding | undefined =>
  evidence.find(({ finding }) => finding.spec.kind === 'perf')?.finding

/** The benchmark with its part in the score; undefined where nothing was measured. */
function perfOutcome(
  { perf: { goal, noise } }: SessionConfig,
  evidence: readonly Evidence[],
  { signals: scoredSignals }: Score,
): PerfOutcome | undefined {
  const { metric, spread = 0 } = measured(evidence) ?? {}
  const own = scoredSignals.find(({ kind }) => kind === 'perf')
  if (metric === undefined || own === undefined) return undefined
  const weights = scoredSignals.reduce((sum, { weight }) => sum + weight, 0)
  return {
    ...metric,
    goal,
    contribution: own.contribution,
    share: weights > 0 ? own.weight / weights : 0,
    noise: Math.max(noise, spread),
  }
}

const bestOf = ({ best_perf, perf_unit }: Standing): Metric | undefined =>
  best_perf === null ? undefined : { value: best_perf, unit: (perf_unit ?? '') as Metric['unit'] }

/** Only identities and states are compared later. */
const withoutText = ({ tests, diagnostics }: Baseline): Baseline => ({
  tests: tests && { ...tests, cases: tests.cases.map(({ id, status }) => ({ id, status })) },
  diagnostics,
})

/** Exit codes that say that the command itself is wrong, and not the code. */
function misconfigured({ spec: { name, command }, end }: StageFinding): string[] {
  if (end.exitCode === 126 || end.exitCode === 127)
    return [`${name}: ${endWhy(end)}; check the command: ${command}`]
  if (/\bpylint\b/.test(command) && end.exitCode !== null && (end.exitCode & 32) !== 0)
    return [`${name}: pylint was called in a wrong way (exit ${end.exitCode})`]
  if (/\bpytest\b/.test(command) && end.exitCode === 4)
    return [`${name}: pytest was called in a wrong way (exit 4)`]
  return []
}
