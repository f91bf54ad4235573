/** From what the commands of a session left behind to the values of its signals. */
import { counted } from './counted.ts'
import type { Coverage } from './coverage.ts'
import type { Diagnostic } from './diagnostic.ts'
import { newDiagnostics } from './diagnostic.ts'
import { type Metric, metricText } from './metric.ts'
import { type Comparison, compareTests } from './report/compare-tests.ts'
import { type TestRun, totalOf } from './report/test-run.ts'
import { perfValue } from './score.ts'
import type { SignalSpec, SignalValue } from './signal.ts'

/** How one command ended. */
export interface StageEnd {
  readonly exitCode: number | null
  readonly timedOut: boolean
  readonly cancelled: boolean
  readonly timeoutS: number
}

/** What one command left behind, read. */
export interface StageFinding {
  readonly spec: SignalSpec
  readonly end: StageEnd
  /** of a test command whose output could be read */
  readonly tests?: TestRun | undefined
  /** of any command that complains in a known form */
  readonly diagnostics?: readonly Diagnostic[] | undefined
  readonly metric?: Metric | undefined
  /** median distance of several measures from their median, as a share of it */
  readonly spread?: number | undefined
  readonly coverage?: Coverage | undefined
  /** where a command prints its checks as JSON */
  readonly checks?: readonly Check[] | undefined
  /** the signal that failed, after which this command was not run */
  readonly notRunAfter?: string | undefined
}

/** One check of a data check that prints them. */
export interface Check {
  readonly name: string
  readonly ok: boolean
}

/** What an evaluation is compared with. */
export interface Yardstick {
  readonly baselineTests: TestRun | undefined
  readonly baselineDiagnostics: Readonly<Record<string, readonly Diagnostic[]>>
  readonly bestPerf: Metric | undefined
  readonly goal: 'min' | 'max'
  readonly allowTestRemoval: boolean
  /** counts data checks and complaints instead of exits */
  readonly graded: boolean
}

/** A signal with what it was made of. */
export interface JudgedSignal {
  readonly value: SignalValue
  readonly comparison?: Comparison
  readonly fresh?: readonly Diagnostic[]
}

/** The value of one signal. */
export function judged(finding: StageFinding, yardstick: Yardstick): JudgedSignal {
  if (finding.notRunAfter !== undefined)
    return { value: signal(finding, 0, `not run: ${finding.notRunAfter} failed`) }
  switch (finding.spec.kind) {
    case 'test':
      return judgedTests(finding, yardstick)
    case 'perf':
      return { value: perfSignal(finding, yardstick) }
    case 'lint':
      return judgedLint(finding, yardstick)
    case 'check':
    case 'coverage':
      return { value: checkSignal(finding, yardstick) }
  }
}

/** True where a command ended of itself and says that all is well. */
export const isGood = ({ exitCode, timedOut, cancelled }: StageEnd): boolean =>
  exitCode === 0 && !timedOut && !cancelled

const signal = (
  { spec: { name, kind, weight } }: StageFinding,
  value: number,
  why: string,
  ok = value === 1,
): SignalValue => ({ name, kind, weight, value, ok, why })

/** Why a command did not end well, in words. */
export function endWhy({ exitCode, timedOut, cancelled, timeoutS }: StageEnd): string {
  if (timedOut) return `timed out after ${timeoutS} s`
  if (cancelled) return 'cancelled'
  if (exitCode === 127) return 'exit 127: a command was not found'
  return exitCode === null ? 'ended by a signal' : `exit ${exitCode}`
}

function checkSignal(finding: StageFinding, { graded }: Yardstick): SignalValue {
  const { end, checks = [] } = finding
  const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name)
  const why = failed.length === 0 ? endWhy(end) : `${endWhy(end)}: failed ${failed.join(', ')}`
  if (isGood(end)) return signal(finding, 1, why)
  // Checks that are all good do not explain why the command failed.
  const share = failed.length === 0 ? 0 : 1 - failed.length / checks.length
  return signal(finding, graded ? share : 0, why, false)
}

function judgedTests(finding: StageFinding, { baselineTests, allowTestRemoval }: Yardstick): JudgedSignal {
  const { tests, end } = finding
  const comparison = compareTests(baselineTests, tests)
  if (end.timedOut || end.cancelled) return { value: signal(finding, 0, endWhy(end)), comparison }
  if (tests === undefined)
    return { value: signal(finding, 0, `no test results in the output, ${endWhy(end)}`), comparison }
  const missing = allowTestRemoval ? 0 : comparison.missingCount
  const total = totalOf(tests) + missing
  if (total === 0) return { value: signal(finding, 0, `no tests ran, ${endWhy(end)}`), comparison }
  const value = tests.passed / total
  const parts = [
    `${tests.passed} of ${total} passed`,
    ...(tests.errors > 0 ? [counted(tests.errors, 'error')] : []),
    ...(missing > 0 ? [`${missing} vanished since the baseline`] : []),
    ...(comparison.newlySkipped.length > 0 ? [`${comparison.newlySkipped.length} newly skipped`] : []),
    ...(isGood(end) ? [] : [endWhy(end)]),
  ]
  return { value: signal(finding, value, parts.join(', '), value === 1 && isGood(end)), comparison }
}

/** New complaints that are worth nothing at all, where a linter is graded; more where it had more at the baseline. */
const worstLint = 10

function judgedLint(finding: StageFinding, { baselineDiagnostics, graded }: Yardstick): JudgedSignal {
  const { end, diagnostics = [], spec } = finding
  const before = baselineDiagnostics[spec.name]
  const fresh = before === undefined ? diagnostics : newDiagnostics(before, diagnostics)
  const counts =
    diagnostics.length === 0
      ? endWhy(end)
      : `${counted(diagnostics.length, 'complaint')}${before === undefined ? '' : `, ${fresh.length} new`}, ${endWhy(end)}`
  if (isGood(end) || !graded || diagnostics.length === 0)
    return { value: signal(finding, isGood(end) ? 1 : 0, counts), fresh }
  const value = 1 - Math.min(1, fresh.length / Math.max(worstLint, before?.length ?? 0))
  return { value: signal(finding, value, counts), fresh }
}

function perfSignal(finding: StageFinding, { bestPerf, goal }: Yardstick): SignalValue {
  const { end, metric } = finding
  if (!isGood(end)) return signal(finding, 0, endWhy(end), false)
  if (metric === undefined) return signal(finding, 0, 'no measure in the output', false)
  if (bestPerf !== undefined && bestPerf.unit !== metric.unit)
    return signal(
      finding,
      0,
      `measured in ${metric.unit || 'a bare number'}, before in ${bestPerf.unit || 'a bare number'}`,
      false,
    )
  const value = perfValue(metric.value, bestPerf?.value ?? null, goal)
  const best = bestPerf === undefined ? '' : `, best so far ${metricText(bestPerf)}`
  return signal(finding, value, `${metricText(metric)}${best}`, value > 0)
}

/** The share of lines that the tests ran, where the session weighs it; 0 where they wrote none that can be read. */
export const coverageSignal = (coverage: Coverage | null, weight: number): SignalValue => ({
  name: 'coverage',
  kind: 'coverage',
  weight,
  value: coverage === null ? 0 : coverage.covered / coverage.total,
  ok: coverage !== null,
  why:
    coverage === null
      ? 'the tests wrote no coverage that can be read'
      : `${coverage.covered} of ${coverage.total} lines ran, by ${coverage.source}`,
})

/** The checks that a command prints as `{"checks": [{"name": …, "ok": …}]}`; undefined for other output. */
export function readChecks(stdout: string): readonly Check[] | undefined {
  const text = [stdout.trim(), ...stdout.split('\n').reverse()].find((line) => /^\s*\{\s*"checks"/.test(line))
  if (text === undefined) return undefined
  try {
    const { checks } = JSON.parse(text) as { checks?: unknown }
    return Array.isArray(checks) ? checks.filter(isCheck) : undefined
  } catch {
    return undefined
  }
}

const isCheck = (check: Partial<Check> | null): check is Check =>
  typeof check?.name === 'string' && typeof check.ok === 'boolean'
