import { toTestKey } from './pytest-id.ts'

/** A test with `xfail` failed as expected and does not count. */
export type TestStatus = 'pass' | 'fail' | 'error' | 'skip' | 'xfail'

export interface TestCase {
  /** Stable between runs, such as `tests/test_sums.py::TestMean::test_two` or `file > suite > name`. */
  readonly id: string
  readonly status: TestStatus
  /** Assertion and traceback, at most `maxMessage` characters. */
  readonly message?: string
  /** File of the failure. Relative to the project if the runner reports a relative path. */
  readonly file?: string
  readonly line?: number
}

export interface TestRun {
  /** `junit`, `tap`, `jest-json`, `mocha-json`, or `text:` with the runner's name. */
  readonly source: string
  /** All tests, or only the failed ones if `isComplete` is false. */
  readonly cases: readonly TestCase[]
  readonly isComplete: boolean
  readonly passed: number
  readonly failed: number
  readonly errors: number
  readonly skipped: number
}

const maxMessage = 4000

/** Creates a complete run. Numbers repeated ids as `id #2`. */
export function createRun(source: string, cases: readonly TestCase[]): TestRun {
  const count = (...statuses: readonly TestStatus[]) =>
    cases.filter(({ status }) => statuses.includes(status)).length
  const counts = new Map<string, number>()
  return {
    source,
    cases: cases.map((testCase) => {
      const occurrence = (counts.get(testCase.id) ?? 0) + 1
      counts.set(testCase.id, occurrence)
      return occurrence === 1 ? testCase : { ...testCase, id: `${testCase.id} #${occurrence}` }
    }),
    isComplete: true,
    passed: count('pass'),
    failed: count('fail'),
    errors: count('error'),
    skipped: count('skip', 'xfail'),
  }
}

/** Whether an id selects a test: the id of the test, its file or its class. */
export function selectsTest(selector: string, id: string): boolean {
  const [selectorKey, key] = [toTestKey(selector), toTestKey(id)]
  return key === selectorKey || separators.some((separator) => key.startsWith(`${selectorKey}${separator}`))
}

const separators = ['.', '[', ' > ', ' (', ' [']

export const selectCases = (run: TestRun, ids: readonly string[]): TestRun =>
  run.isComplete
    ? createRun(
        run.source,
        run.cases.filter(({ id }) => ids.some((selector) => selectsTest(selector, id))),
      )
    : run

export const countTests = ({ passed, failed, errors }: TestRun): number => passed + failed + errors

export function replacePaths(run: TestRun, replace: (text: string) => string): TestRun {
  const cases = run.cases.map(
    (testCase): TestCase => ({
      ...testCase,
      id: replace(testCase.id),
      ...(testCase.message === undefined ? {} : { message: replace(testCase.message) }),
      ...(testCase.file === undefined ? {} : { file: replace(testCase.file) }),
    }),
  )
  return { ...run, cases }
}

/**
 * Patterns of `tests/test_sums.py:10: AssertionError`, `File "sums.py", line 3`, `at f (file:///work/sums.js:5:28)`
 * and `❯ a.js:5:35`.
 */
const locationPatterns = [
  /^(?<file>[^\s:"<>][^:"<>\n]*\.\w+):(?<line>\d+): (?:in |[\w.]*(?:Error|Exception|Warning|Failed|Exit|Interrupt)\b|[A-Za-z_][\w.]*$)/gm,
  /File "(?<file>[^"<>\n]+)", line (?<line>\d+)/g,
  /(?:\(|at |❯ |@ )(?:file:\/\/)?(?<file>[^\s():][^():\n]*\.\w+):(?<line>\d+):\d+\)?/g,
]

const libraryFile =
  /node_modules|site-packages|dist-packages|^node:|^internal\/|\/lib\/python\d|^<|\/usr\/lib\//

/**
 * Shortens a failure message and finds the project's file and line in it. The innermost frame is last in Python and
 * first in JavaScript.
 */
export function locateFailure(text: string): { message: string; file?: string; line?: number } {
  const message =
    text.length <= maxMessage
      ? text
      : `${text.slice(0, maxMessage / 4)}\n…\n${text.slice((-3 * maxMessage) / 4)}`
  for (const [index, pattern] of locationPatterns.entries()) {
    const locations = [...message.matchAll(pattern)]
      .map(({ groups }) => ({ file: groups?.file ?? '', line: Number(groups?.line) }))
      .filter(({ file }) => !libraryFile.test(file))
    const location = index === 2 ? locations[0] : locations.at(-1)
    if (location !== undefined) return { message, ...location }
  }
  return { message }
}
