import { formatCount } from '../format.ts'
import { parseObject } from '../parse-object.ts'
import { type Comparison, compareTests, countKnownTests } from '../report/compare-tests.ts'
import type { TestRun } from '../report/test-run.ts'
import { type Diagnostic, findNewDiagnostics } from './diagnostic.ts'
import { formatMetric, type Metric } from './metric.ts'
import { computePerfValue } from './score.ts'
import type { SignalSpec, SignalValue } from './signal.ts'

export interface StageEnd {
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly cancelled: boolean
  readonly timeoutS: number
}

export interface StageFinding {
  readonly spec: SignalSpec
  readonly end: StageEnd
  readonly tests?: TestRun | undefined
  readonly diagnostics?: readonly Diagnostic[] | undefined
  readonly metric?: Metric | undefined
  /** Median distance of the measurements from their median, divided by this median. */
  readonly relativeSpread?: number | undefined
  readonly checks?: readonly Check[] | undefined
  /** Why the result cannot be trusted. */
  readonly distrustReason?: string | undefined
  /** The failed signal that caused this command to be skipped. */
  readonly failedBefore?: string | undefined
}

interface Check {
  readonly name: string
  readonly ok: boolean
}

export interface StageSummary {
  readonly stage: string
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly ms: number
  /** Bytes of both streams. The stored output may be shorter. */
  readonly bytes: number
  readonly truncated: boolean
}

export interface Evidence {
  readonly finding: StageFinding
  readonly summary: StageSummary
  readonly stdout: string
  readonly stderr: string
}

export interface Reference {
  readonly baselineTests: TestRun | undefined
  readonly baselineDiagnostics: Readonly<Record<string, readonly Diagnostic[]>>
  readonly bestPerf: Metric | undefined
  readonly goal: 'min' | 'max'
  readonly allowTestRemoval: boolean
  /** Whether tests that the baseline lacks count. */
  readonly countsNewTests: boolean
}

export interface JudgedSignal {
  readonly value: SignalValue
  readonly comparison?: Comparison
  readonly newDiagnostics?: readonly Diagnostic[]
}

export function judgeSignal(finding: StageFinding, reference: Reference): JudgedSignal {
  if (finding.failedBefore !== undefined)
    return { value: toValue(finding, 0, `not run: ${finding.failedBefore} failed`) }
  if (finding.distrustReason !== undefined) return { value: toValue(finding, 0, finding.distrustReason) }
  switch (finding.spec.kind) {
    case 'test':
      return judgeTests(finding, reference)
    case 'perf':
      return { value: judgePerf(finding, reference) }
    case 'lint':
      return judgeLint(finding, reference)
    case 'check':
      return { value: judgeCheck(finding) }
  }
}

export const isSuccessful = ({ exitCode, timedOut, cancelled }: StageEnd): boolean =>
  exitCode === 0 && !timedOut && !cancelled

const toValue = (
  { spec: { name, kind, weight } }: StageFinding,
  value: number,
  why: string,
  ok = value === 1,
): SignalValue => ({ name, kind, weight, value, ok, why })

export function formatEnd({ exitCode, timedOut, cancelled, timeoutS }: StageEnd): string {
  if (timedOut) return `timed out after ${timeoutS} s`
  if (cancelled) return 'cancelled'
  if (exitCode === 127) return 'exit 127: command not found'
  return exitCode === null ? 'ended by a signal' : `exit ${exitCode}`
}

function judgeCheck(finding: StageFinding): SignalValue {
  const { end, checks = [] } = finding
  const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name)
  const why = failed.length === 0 ? formatEnd(end) : `${formatEnd(end)}: failed ${failed.join(', ')}`
  return toValue(finding, isSuccessful(end) ? 1 : 0, why)
}

function judgeTests(finding: StageFinding, reference: Reference): JudgedSignal {
  const { baselineTests, allowTestRemoval, countsNewTests } = reference
  const { tests, end } = finding
  const comparison = compareTests(baselineTests, tests)
  const createFailure = (why: string) => ({ value: toValue(finding, 0, why), comparison })
  if (end.timedOut || end.cancelled) return createFailure(formatEnd(end))
  if (tests === undefined) return createFailure(`no test results in the output, ${formatEnd(end)}`)
  if (baselineTests?.isComplete && !tests.isComplete)
    return createFailure(`the runner wrote no report, unlike at the baseline, ${formatEnd(end)}`)
  const missingCount = allowTestRemoval ? 0 : comparison.missingCount
  const skippedCount = allowTestRemoval ? 0 : comparison.skippedCount
  const counts = countKnownTests(countsNewTests ? undefined : baselineTests, tests)
  const total = counts.total + missingCount + skippedCount
  if (total === 0) return createFailure(`no tests ran, ${formatEnd(end)}`)
  const value = counts.passed / total
  const parts = [
    `${counts.passed} of ${total} passed`,
    ...(tests.errors > 0 ? [formatCount(tests.errors, 'error')] : []),
    ...(missingCount > 0 ? [`${missingCount} missing since the baseline`] : []),
    ...(skippedCount > 0 ? [`${skippedCount} newly skipped`] : []),
    ...(counts.added > 0 ? [`${formatCount(counts.added, 'new test')} not counted`] : []),
    ...(isSuccessful(end) ? [] : [formatEnd(end)]),
  ]
  return { value: toValue(finding, value, parts.join(', '), value === 1 && isSuccessful(end)), comparison }
}

function judgeLint(finding: StageFinding, { baselineDiagnostics }: Reference): JudgedSignal {
  const { end, diagnostics = [], spec } = finding
  const before = baselineDiagnostics[spec.name]
  const newDiagnostics = before === undefined ? diagnostics : findNewDiagnostics(before, diagnostics)
  const count = formatCount(diagnostics.length, 'problem')
  const why = [
    ...(diagnostics.length === 0 ? [] : [count]),
    ...(diagnostics.length === 0 || before === undefined ? [] : [`${newDiagnostics.length} new`]),
    formatEnd(end),
  ]
  return { value: toValue(finding, isSuccessful(end) ? 1 : 0, why.join(', ')), newDiagnostics }
}

/** A result that is this many times better than the best is rejected. */
const maxGain = 1000

function judgePerf(finding: StageFinding, { bestPerf, goal }: Reference): SignalValue {
  const { end, metric } = finding
  if (!isSuccessful(end)) return toValue(finding, 0, formatEnd(end))
  if (metric === undefined) return toValue(finding, 0, 'no measurement in the output')
  const formatUnit = (metric: Metric) => metric.unit || 'a bare number'
  if (bestPerf !== undefined && bestPerf.unit !== metric.unit)
    return toValue(finding, 0, `measured in ${formatUnit(metric)}, before in ${formatUnit(bestPerf)}`)
  if (!(metric.value > 0)) return toValue(finding, 0, `${formatMetric(metric)} is refused as a measurement`)
  const gain = bestPerf === undefined ? 1 : bestPerf.value / metric.value
  if ((goal === 'min' ? gain : 1 / gain) >= maxGain)
    return toValue(finding, 0, `${formatMetric(metric)} is refused: ${maxGain} times better than before`)
  const value = computePerfValue(metric.value, bestPerf?.value ?? null, goal)
  const best = bestPerf === undefined ? '' : `, best so far ${formatMetric(bestPerf)}`
  return toValue(finding, value, `${formatMetric(metric)}${best}`, value > 0)
}

/** Reads `{"checks": [{"name": …, "ok": …}]}` from an output. Returns `undefined` for other output. */
export function readChecks(stdout: string): readonly Check[] | undefined {
  const text = [stdout.trim(), ...stdout.split('\n').reverse()].find((line) => /^\s*\{\s*"checks"/.test(line))
  const { checks } = parseObject(text ?? '')
  return Array.isArray(checks) ? checks.filter(isCheck) : undefined
}

const isCheck = (check: Partial<Check> | null): check is Check =>
  typeof check?.name === 'string' && typeof check.ok === 'boolean'
