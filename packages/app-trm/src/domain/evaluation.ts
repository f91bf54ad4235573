/** From what the commands of a session left behind to the values of its signals. */
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
  /** names of checks that failed, where a command prints them as JSON */
  readonly failedChecks?: readonly string[] | undefined
}

/** What an evaluation is compared with. */
export interface Yardstick {
  readonly baselineTests: TestRun | undefined
  readonly baselineDiagnostics: Readonly<Record<string, readonly Diagnostic[]>>
  readonly bestPerf: Metric | undefined
  readonly goal: 'min' | 'max'
  readonly allowTestRemoval: boolean
}

/** A signal with what it was made of. */
export interface JudgedSignal {
  readonly value: SignalValue
  readonly comparison?: Comparison
  readonly fresh?: readonly Diagnostic[]
}

/** The value of one signal. */
export function judged(finding: StageFinding, yardstick: Yardstick): JudgedSignal {
  switch (finding.spec.kind) {
    case 'test':
      return judgedTests(finding, yardstick)
    case 'perf':
      return { value: perfSignal(finding, yardstick) }
    case 'lint':
      return judgedLint(finding, yardstick)
    case 'check':
      return { value: signal(finding, isGood(finding.end) ? 1 : 0, checkWhy(finding)) }
  }
}

const isGood = ({ exitCode, timedOut, cancelled }: StageEnd): boolean =>
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

function checkWhy({ end, failedChecks = [] }: StageFinding): string {
  return failedChecks.length === 0 ? endWhy(end) : `${endWhy(end)}: failed ${failedChecks.join(', ')}`
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
    ...(tests.errors > 0 ? [`${tests.errors} errors`] : []),
    ...(missing > 0 ? [`${missing} vanished since the baseline`] : []),
    ...(comparison.newlySkipped.length > 0 ? [`${comparison.newlySkipped.length} newly skipped`] : []),
    ...(isGood(end) ? [] : [endWhy(end)]),
  ]
  return { value: signal(finding, value, parts.join(', '), value === 1 && isGood(end)), comparison }
}

function judgedLint(finding: StageFinding, { baselineDiagnostics }: Yardstick): JudgedSignal {
  const { end, diagnostics = [], spec } = finding
  const before = baselineDiagnostics[spec.name]
  const fresh = before === undefined ? diagnostics : newDiagnostics(before, diagnostics)
  const counts =
    diagnostics.length === 0
      ? endWhy(end)
      : `${diagnostics.length} complaints${before === undefined ? '' : `, ${fresh.length} new`}, ${endWhy(end)}`
  return { value: signal(finding, isGood(end) ? 1 : 0, counts), fresh }
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

/** Names of failed checks, where a command prints `{"checks": [{"name": …, "ok": …}]}`; undefined for other output. */
export function readChecks(stdout: string): readonly string[] | undefined {
  const line = [stdout.trim(), ...stdout.split('\n').reverse()].find((text) =>
    text.trim().startsWith('{"checks"'),
  )
  if (line === undefined) return undefined
  try {
    const { checks } = JSON.parse(line) as { checks?: unknown }
    if (!Array.isArray(checks)) return undefined
    return checks
      .filter(
        (check): check is { name: string; ok: boolean } =>
          check?.ok === false && typeof check.name === 'string',
      )
      .map(({ name }) => name)
  } catch {
    return undefined
  }
}
