/** The `feedback` of an evaluation: failures first, each of limited length. */
import type { Diagnostic } from '../evaluation/diagnostic.ts'
import { formatGuard, type Guard } from '../evaluation/guard.ts'
import type { Failure } from '../evaluation/result.ts'
import type { SignalValue } from '../evaluation/signal.ts'
import type { Tampering } from '../evaluation/tamper.ts'
import { formatCount, formatLocation } from '../format.ts'
import type { Comparison } from '../report/compare-tests.ts'
import type { TestCase, TestRun } from '../report/test-run.ts'
import { findProjectFrame, formatProblem, type Problem } from './problem.ts'
import { readPythonErrors } from './python-error.ts'

/** Lengths in characters. */
const [maxItems, maxItemLength, maxFailures, maxFailedIds, maxAdvice] = [16, 1500, 8, 200, 4]

export const maxNames = 20

const isFailed = ({ status }: TestCase): boolean => status === 'error' || status === 'fail'

/** Returns errors first, because a file that could not be loaded explains missing tests. */
export function listFailures(run: TestRun | undefined): readonly Failure[] {
  const failed = (run?.cases ?? []).filter(isFailed)
  const failures = failed.toSorted((a, b) => Number(b.status === 'error') - Number(a.status === 'error'))
  return failures.slice(0, maxFailures).map(({ message = '', ...testCase }) => ({
    ...testCase,
    message: shortenMiddle(removeLibraryFrames(message)),
  }))
}

export const listFailedIds = (run: TestRun | undefined): readonly string[] =>
  (run?.cases ?? [])
    .filter(isFailed)
    .slice(0, maxFailedIds)
    .map(({ id }) => id)

const libraryFrame =
  /node:internal|node_modules|\(node:|site-packages|dist-packages|\/usr\/lib\/python|<frozen importlib|^\s+\?\?\?$/

const removeLibraryFrames = (message: string): string =>
  message
    .split('\n')
    .filter((line) => !libraryFrame.test(line))
    .join('\n')
    .trim()

/** Retains the beginning and the end, because they contain assertions. */
const shortenMiddle = (text: string): string =>
  text.length <= maxItemLength
    ? text
    : `${text.slice(0, Math.floor(maxItemLength * 0.6))}\n…\n${text.slice(-Math.floor(maxItemLength * 0.35))}`

interface Stage {
  readonly value?: SignalValue
  readonly stdout: string
  readonly stderr: string
  readonly newDiagnostics?: readonly Diagnostic[]
}

interface FeedbackInput {
  readonly guard: Guard | null
  readonly run: TestRun | undefined
  readonly problems: readonly Problem[]
  readonly comparison: Comparison
  readonly stages: readonly Stage[]
  readonly tamper: readonly Tampering[]
}

export function createFeedback(input: FeedbackInput): readonly string[] {
  const { guard, run, problems, comparison, stages, tamper } = input
  const failures = listFailures(run)
  const furtherCount = (run === undefined ? 0 : run.failed + run.errors) - failures.length
  const items = [
    ...(guard === null || guard.confirms ? [] : [formatGuard(guard)]),
    ...formatFailures(failures),
    ...problems
      .filter(({ advice }) => advice !== undefined)
      .slice(0, maxAdvice)
      .map((problem) => formatProblem(problem)),
    ...(furtherCount > 0 ? [`${formatCount(furtherCount, 'further test')} failed`] : []),
    ...formatComparison(comparison),
    ...stages
      .filter(({ value }) => value?.ok === false)
      .map((stage) => formatStage(stage, failures.length > 0)),
    ...tamper.map(({ path, why }) => `warning: the candidate changes ${path}, which ${why}`),
    ...stages.flatMap(({ value }) => (value?.ok ? [`${value.name} ok: ${value.why}`] : [])),
  ]
  return items.slice(0, maxItems).map(shortenMiddle)
}

function formatComparison({ missing, missingCount, newlySkipped, skippedCount }: Comparison): string[] {
  const names = `${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ', …' : ''}`
  const count = `${formatCount(missingCount, 'test')} of the baseline did not run`
  return [
    ...(missingCount > 0 ? [names === '' ? count : `${count}: ${names}`] : []),
    ...(skippedCount > 0 ? [`newly skipped: ${newlySkipped.slice(0, 5).join(', ') || skippedCount}`] : []),
  ]
}

function formatStage({ value, stdout, stderr, newDiagnostics = [] }: Stage, hasFailures: boolean): string {
  const { name = '', kind, why = '' } = value ?? {}
  if (newDiagnostics.length > 0) {
    const sorted = newDiagnostics.toSorted(
      (a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'),
    )
    const moreText = sorted.length > 10 ? [`and ${sorted.length - 10} more`] : []
    return [`${name}: ${why}`, ...sorted.slice(0, 10).map(formatDiagnostic), ...moreText].join('\n')
  }
  const needsOutput = hasFailures
    ? /no test results|no tests ran|timed out|ended/
    : /no test results|no tests ran|timed out|exit|ended/
  if (kind === 'test' && !needsOutput.test(why)) return `${name}: ${why}`
  const text = stderr.trim() === '' ? stdout : stderr
  return `${name}: ${why}\n${text.trim().split('\n').slice(-40).join('\n')}`.trim()
}

function formatDiagnostic({ file, line, column, code, message }: Diagnostic): string {
  const location = `${file}:${line}${column === null ? '' : `:${column}`}`
  return `${location} ${code} ${message}`
}

/** Formats failures. Those with the same error form one item. */
export function formatFailures(failures: readonly Failure[]): readonly string[] {
  const groups = new Map<string, Failure[]>()
  for (const failure of failures) {
    const error = readPythonErrors(failure.message).at(-1)
    // Equal assertions of two tests can have different causes.
    const isShared = error !== undefined && !error.type.endsWith('AssertionError')
    const cause = isShared
      ? JSON.stringify([error.type, error.message, findProjectFrame(error.frames)])
      : failure.id
    groups.set(cause, [...(groups.get(cause) ?? []), failure])
  }
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const { id, status, file, message } = first
    const location = file === undefined ? '' : ` (${formatLocation(first)})`
    const moreText = others.length > 3 ? ` and ${others.length - 3} more` : ''
    const sharedIds = others.slice(0, 3).map((other) => other.id)
    return [
      `${status === 'error' ? 'error' : 'failed'}: ${id}${location}\n`,
      sharedIds.length === 0 ? '' : `the same error in ${sharedIds.join(', ')}${moreText}\n`,
      message,
    ].join('')
  })
}
