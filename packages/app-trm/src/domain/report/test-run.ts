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
  const seen = new Map<string, number>()
  return {
    source,
    cases: cases.map((one) => {
      const times = (seen.get(one.id) ?? 0) + 1
      seen.set(one.id, times)
      return times === 1 ? one : { ...one, id: `${one.id} #${times}` }
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
  const [wanted, key] = [toTestKey(selector), toTestKey(id)]
  return key === wanted || separators.some((one) => key.startsWith(`${wanted}${one}`))
}

const separators = ['.', '[', ' > ', ' (', ' [']

export const selectCases = (run: TestRun, ids: readonly string[]): TestRun =>
  run.isComplete
    ? createRun(
        run.source,
        run.cases.filter(({ id }) => ids.some((one) => selectsTest(one, id))),
      )
    : run

export const countTests = ({ passed, failed, errors }: TestRun): number => passed + failed + errors

export function replacePaths(run: TestRun, replace: (text: string) => string): TestRun {
  const cases = run.cases.map(
    (one): TestCase => ({
      ...one,
      id: replace(one.id),
      ...(one.message === undefined ? {} : { message: replace(one.message) }),
      ...(one.file === undefined ? {} : { file: replace(one.file) }),
    }),
  )
  return { ...run, cases }
}

/**
 * Patterns of `tests/test_sums.py:10: AssertionError`, `File "sums.py", line 3`, `at f (file:///work/sums.js:5:28)`
 * and `❯ a.js:5:35`.
 */
const placePatterns = [
  /^(?<file>[^\s:"<>][^:"<>\n]*\.\w+):(?<line>\d+): (?:in |[\w.]*(?:Error|Exception|Warning|Failed|Exit|Interrupt)\b|[A-Za-z_][\w.]*$)/gm,
  /File "(?<file>[^"<>\n]+)", line (?<line>\d+)/g,
  /(?:\(|at |❯ |@ )(?:file:\/\/)?(?<file>[^\s():][^():\n]*\.\w+):(?<line>\d+):\d+\)?/g,
]

const libraryFile =
  /node_modules|site-packages|dist-packages|^node:|^internal\/|\/lib\/python\d|^<|\/usr\/lib\//

/**
 * Shortens a failure message and finds the file and line in the project that it names. The innermost frame is last in
 * Python and first in JavaScript.
 */
export function locateFailure(text: string): { message: string; file?: string; line?: number } {
  const message =
    text.length <= maxMessage
      ? text
      : `${text.slice(0, maxMessage / 4)}\n…\n${text.slice((-3 * maxMessage) / 4)}`
  for (const [index, pattern] of placePatterns.entries()) {
    const places = [...message.matchAll(pattern)]
      .map(({ groups }) => ({ file: groups?.file ?? '', line: Number(groups?.line) }))
      .filter(({ file }) => !libraryFile.test(file))
    const place = index === 2 ? places[0] : places.at(-1)
    if (place !== undefined) return { message, ...place }
  }
  return { message }
}
