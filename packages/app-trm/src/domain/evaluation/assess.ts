import { listIsolation } from '../command/sandbox.ts'
import { createFeedback, listFailedIds, listFailures, maxNames } from '../feedback/feedback.ts'
import type { Problem } from '../feedback/problem.ts'
import { emptyComparison } from '../report/compare-tests.ts'
import type { TestRun } from '../report/test-run.ts'
import type { SessionConfig } from '../session-config.ts'
import { type AbsentPath, warnAbsent } from './absent-path.ts'
import { createGuard, type GuardFinding, selectGuardEvidence, summarizeTests } from './guard.ts'
import { applyGuard, decide, noDecision } from './halting.ts'
import {
  type Evidence,
  formatEnd,
  type JudgedSignal,
  judgeSignal,
  type StageFinding,
} from './judge-signal.ts'
import type { Metric } from './metric.ts'
import type { Baseline, EvalResult } from './result.ts'
import {
  advanceStanding,
  computeScore,
  type PerfOutcome,
  readAverage,
  type Score,
  type Standing,
} from './score.ts'
import { findTampering } from './tamper.ts'

export interface AssessmentInput {
  readonly config: SessionConfig
  readonly kind: EvalResult['kind']
  readonly standing: Standing
  readonly baseline: Baseline | null
  readonly evidence: readonly Evidence[]
  readonly problems?: readonly Problem[]
  readonly filesChanged?: readonly string[]
  readonly warnings?: readonly string[]
  readonly guard?: GuardFinding | null
  readonly absent?: readonly AbsentPath[]
}

export interface Assessment {
  readonly result: EvalResult
  readonly standing: Standing
  readonly baseline: Baseline
}

interface Judgement {
  readonly evidence: readonly Evidence[]
  readonly signals: readonly JudgedSignal[]
  readonly score: Score
}

/** Scores an evaluation. The first evaluation of a session becomes its baseline. */
export function assess(input: AssessmentInput): Assessment {
  const { config, kind, standing, baseline, filesChanged = [], guard: finding = null, absent = [] } = input
  const first = judge(input, input.evidence)
  const second = finding === null ? first : judge(input, selectGuardEvidence(input.evidence, finding))
  const { evidence, signals, score } = second.score.score < first.score.score ? second : first
  const countTests = (judgement: Judgement) => summarizeTests(findTrustedRun(judgement.evidence))
  const guard =
    finding &&
    createGuard(finding, first.score, second.score, {
      tests: countTests(second),
      accepted: standing.accepted ?? [],
    })
  const newStanding = advanceStanding(standing, {
    score: score.score,
    isTrusted: guard?.confirms ?? true,
    isBaseline: kind === 'baseline',
    alpha: config.ema,
    perf: createPerfOutcome(config, evidence, score),
  })
  const decision =
    kind === 'baseline' ? noDecision : applyGuard(decide(newStanding, score, config.halt), guard)
  const { metric } = findFinding(evidence, 'perf') ?? {}
  const run = findTrustedRun(evidence)
  const comparison = signals.find((signal) => signal.comparison !== undefined)?.comparison ?? emptyComparison
  const commands = config.signals.map(({ command }) => command)
  const tampering = findTampering(filesChanged, commands)
  const findSignalOk = (name: string) => score.signals.find((signal) => signal.name === name)?.ok ?? null
  const result: EvalResult = {
    step: newStanding.step,
    kind,
    score: score.score,
    emaScore: readAverage(newStanding),
    bestScore: newStanding.best_score,
    noImproveStreak: newStanding.streak,
    tests: summarizeTests(run),
    okBuild: findSignalOk('build'),
    okDataQuality: findSignalOk('dataQual'),
    okLint: findSignalOk('lint'),
    perf: metric === undefined ? null : { ...metric, best: newStanding.best_perf },
    ...decision,
    signals: score.signals,
    guard,
    feedback: createFeedback({
      guard,
      run,
      problems: input.problems ?? [],
      comparison,
      stages: evidence.map((stage, index) => ({ ...stage, ...signals[index] })),
      tamper: tampering,
    }),
    failures: listFailures(run),
    failing: listFailedIds(run),
    missing: comparison.missing.slice(0, maxNames),
    missingCount: comparison.missingCount,
    newlySkipped: comparison.newlySkipped.slice(0, maxNames),
    broken: comparison.broken.slice(0, maxNames),
    repaired: comparison.repaired.slice(0, maxNames),
    tamper: tampering,
    absent: absent.map(({ path }) => path),
    warnings: [
      ...warnAbsent(absent),
      ...(input.warnings ?? []),
      ...evidence.flatMap((stage) => warnMisconfigured(stage.finding)),
    ],
    isolation: listIsolation(config),
    stages: input.evidence.map(({ summary }) => summary),
    filesChanged,
    landed: kind !== 'baseline',
    ms: 0,
  }
  return { result, standing: newStanding, baseline: baseline ?? createBaseline(evidence) }
}

function judge({ config, standing, baseline }: AssessmentInput, evidence: readonly Evidence[]): Judgement {
  const signals = evidence.map(({ finding }) =>
    judgeSignal(finding, {
      baselineTests: baseline?.tests,
      baselineDiagnostics: baseline?.diagnostics ?? {},
      bestPerf: readBestPerf(standing),
      goal: config.perf.goal,
      allowTestRemoval: config.allowTestRemoval,
      countsNewTests: config.protect !== 'compare' && config.protect.length === 0,
    }),
  )
  return { evidence, signals, score: computeScore(signals.map(({ value }) => value)) }
}

function findTrustedRun(evidence: readonly Evidence[]): TestRun | undefined {
  const { tests, distrustReason } = findFinding(evidence, 'test') ?? {}
  return distrustReason === undefined ? tests : undefined
}

const findFinding = (evidence: readonly Evidence[], kind: string): StageFinding | undefined =>
  evidence.find(({ finding }) => finding.spec.kind === kind)?.finding

function createPerfOutcome(
  { perf: { goal, noise } }: SessionConfig,
  evidence: readonly Evidence[],
  { signals }: Score,
): PerfOutcome | undefined {
  const { metric, relativeSpread = 0 } = findFinding(evidence, 'perf') ?? {}
  const perfSignal = signals.find(({ kind }) => kind === 'perf')
  if (metric === undefined || perfSignal === undefined || perfSignal.value === 0) return undefined
  const weightSum = signals.reduce((sum, { weight }) => sum + weight, 0)
  return {
    ...metric,
    goal,
    contribution: perfSignal.contribution,
    weightShare: weightSum > 0 ? perfSignal.weight / weightSum : 0,
    noise: Math.max(noise, relativeSpread),
  }
}

const readBestPerf = ({ best_perf, perf_unit }: Standing): Metric | undefined =>
  best_perf === null ? undefined : { value: best_perf, unit: (perf_unit ?? '') as Metric['unit'] }

/** Stores only ids and statuses of tests, because later comparisons need nothing else. */
function createBaseline(evidence: readonly Evidence[]): Baseline {
  const tests = findFinding(evidence, 'test')?.tests
  const diagnostics = evidence.flatMap(({ finding: { spec, diagnostics: stageDiagnostics } }) =>
    spec.kind === 'lint' && stageDiagnostics !== undefined ? [[spec.name, stageDiagnostics] as const] : [],
  )
  return {
    tests: tests && { ...tests, cases: tests.cases.map(({ id, status }) => ({ id, status })) },
    diagnostics: Object.fromEntries(diagnostics),
  }
}

function warnMisconfigured({ spec: { name, command }, end }: StageFinding): string[] {
  if (end.exitCode === 126 || end.exitCode === 127)
    return [`${name}: ${formatEnd(end)}; check the command: ${command}`]
  if (/\bpylint\b/.test(command) && end.exitCode !== null && (end.exitCode & 32) !== 0)
    return [`${name}: invalid call of pylint (exit ${end.exitCode})`]
  if (/\bpytest\b/.test(command) && end.exitCode === 4) return [`${name}: invalid call of pytest (exit 4)`]
  return []
}
