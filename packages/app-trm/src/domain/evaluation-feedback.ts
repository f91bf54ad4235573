/** What a client is told to act on: failures first, each small, the whole in bounds. */
import { counted } from './counted.ts'
import type { Diagnostic } from './diagnostic.ts'
import { typescriptAdvice } from './feedback/advice.ts'
import { failureGroups, groupText } from './feedback/failure-group.ts'
import { type Problem, problemText } from './feedback/problem.ts'
import type { Comparison } from './report/compare-tests.ts'
import type { TestRun } from './report/test-run.ts'
import type { Failure } from './result.ts'
import type { SignalValue } from './signal.ts'
import type { Tampering } from './tamper.ts'

/** Bounds of an answer: items, characters of one, failures that are told whole, advice, names in a list. */
export const bounds = Object.freeze({
  items: 16,
  item: 1500,
  failures: 8,
  failing: 200,
  advice: 4,
  names: 20,
})

/** Failures of a run in its order, errors first: a test that could not be loaded explains those that are missing. */
export function failuresOf(run: TestRun | undefined): readonly Failure[] {
  const bad = (run?.cases ?? []).filter(({ status }) => status === 'error' || status === 'fail')
  const ordered = [
    ...bad.filter(({ status }) => status === 'error'),
    ...bad.filter(({ status }) => status === 'fail'),
  ]
  return ordered.slice(0, bounds.failures).map(({ id, status, file, line, message = '' }) => ({
    id,
    status,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    message: cut(essence(message), bounds.item),
  }))
}

/** Ids of all that failed, the first ones where they are many. */
export const failingOf = (run: TestRun | undefined): readonly string[] =>
  (run?.cases ?? [])
    .filter(({ status }) => status === 'error' || status === 'fail')
    .slice(0, bounds.failing)
    .map(({ id }) => id)

/** Without the frames of test runners and libraries, which say nothing of the project. */
function essence(message: string): string {
  const foreign =
    /node:internal|node_modules|\(node:|site-packages|dist-packages|\/usr\/lib\/python|<frozen importlib|^\s+\?\?\?$/
  const lines = message.split('\n').filter((line) => !foreign.test(line))
  return lines.join('\n').trim()
}

/** The beginning and the end of a text that is too long: assertions stand at either. */
const cut = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, Math.floor(most * 0.6))}\n…\n${text.slice(-Math.floor(most * 0.35))}`

/** One command that did not end well, with the output to tell why. */
export interface BadStage {
  readonly value: SignalValue
  readonly stdout: string
  readonly stderr: string
  readonly fresh: readonly Diagnostic[]
}

/** Everything that feedback is made of. */
export interface FeedbackParts {
  /** what comes before everything else */
  readonly urgent: readonly string[]
  readonly failures: readonly Failure[]
  readonly problems: readonly Problem[]
  readonly failedCount: number
  readonly comparison: Comparison
  readonly bad: readonly BadStage[]
  readonly tamper: readonly Tampering[]
  readonly good: readonly SignalValue[]
}

/** The items, the most urgent first. */
export function feedbackOf(parts: FeedbackParts): readonly string[] {
  const { urgent, failures, problems, failedCount, comparison, bad, tamper, good } = parts
  const untold = failedCount - failures.length
  const items = [
    ...urgent,
    ...failureGroups(failures).map(groupText),
    ...problems
      .filter(({ advice }) => advice !== undefined)
      .slice(0, bounds.advice)
      .map((one) => problemText(one)),
    ...(untold > 0 ? [untold === 1 ? '1 further test fails' : `${untold} further tests fail`] : []),
    ...missingText(comparison),
    ...bad.map((stage) => stageText(stage, failures.length > 0)),
    ...tamper.map(({ path, why }) => `warning: the candidate changes ${path}, which ${why}`),
    ...good.map(({ name, why }) => `${name} ok: ${why}`),
  ]
  return items.slice(0, bounds.items).map((item) => cut(item, bounds.item))
}

function missingText({ missing, missingCount, newlySkipped }: Comparison): string[] {
  const names = missing.slice(0, 5).join(', ')
  return [
    ...(missingCount > 0
      ? [
          `${counted(missingCount, 'test')} of the baseline did not run${names === '' ? '' : `: ${names}${missing.length > 5 ? ', …' : ''}`}`,
        ]
      : []),
    ...(newlySkipped.length > 0 ? [`newly skipped: ${newlySkipped.slice(0, 5).join(', ')}`] : []),
  ]
}

/** New complaints of a linter; of anything else the end of what it wrote. */
function stageText(
  { value: { name, kind, why }, stdout, stderr, fresh }: BadStage,
  areFailuresTold: boolean,
): string {
  if (fresh.length > 0 && kind !== 'test') {
    const urgent = fresh.toSorted((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'))
    const lines = urgent.slice(0, 10).map(({ file, line, column, code, message }) => {
      const advice = typescriptAdvice(code)
      const place = `${file}:${line}${column === null ? '' : `:${column}`}`
      return `${place} ${code} ${message}${advice === undefined ? '' : ` (to do: ${advice})`}`
    })
    return [
      `${name}: ${why}`,
      ...lines,
      ...(fresh.length > 10 ? [`and ${fresh.length - 10} more`] : []),
    ].join('\n')
  }
  const isExplained = areFailuresTold
    ? /no test results|no tests ran|timed out|ended/
    : /no test results|no tests ran|timed out|exit|ended/
  if (kind === 'test' && !isExplained.test(why)) return `${name}: ${why}`
  const text = stderr.trim() === '' ? stdout : stderr
  return `${name}: ${why}\n${text.trim().split('\n').slice(-40).join('\n')}`.trim()
}
