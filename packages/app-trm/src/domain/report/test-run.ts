/** A run of tests: every test by its identity, or its counts where a runner tells no more. */

/** How a test ended. A test that was expected to fail and did is `xfail`, and counts for nothing. */
export type TestStatus = 'pass' | 'fail' | 'error' | 'skip' | 'xfail'

/** One test. */
export interface TestCase {
  /** the same from run to run: `tests.test_sums.TestMean::test_two`, `file > suite > name` */
  readonly id: string
  readonly status: TestStatus
  /** what the runner says about a failure: assertion and traceback, at most `mostMessage` characters */
  readonly message?: string
  /** where it failed, relative to the project where the runner says so */
  readonly file?: string
  /** from 1 */
  readonly line?: number
}

/** What a run came to. */
export interface TestRun {
  /** where this was read from: `junit`, `tap`, `jest-json`, `mocha-json`, or `text` of a runner */
  readonly source: string
  /** Every test, or only those that failed where `isComplete` is false. */
  readonly cases: readonly TestCase[]
  /** True where `cases` names every test that ran, so that one that vanished is missed. */
  readonly isComplete: boolean
  readonly passed: number
  readonly failed: number
  readonly errors: number
  readonly skipped: number
}

/** Most characters of one failure that are kept. */
const mostMessage = 4000

/** A run whose tests are all known; several under one identity are numbered. */
export function runOf(source: string, cases: readonly TestCase[]): TestRun {
  const count = (...wanted: readonly TestStatus[]) =>
    cases.filter(({ status }) => wanted.includes(status)).length
  return {
    source,
    cases: numbered(cases),
    isComplete: true,
    passed: count('pass'),
    failed: count('fail'),
    errors: count('error'),
    skipped: count('skip', 'xfail'),
  }
}

/** The same run with the chosen tests alone, as far as it names its tests. */
export function chosenOf(run: TestRun, ids: readonly string[]): TestRun {
  if (!run.isComplete) return run
  const wanted = new Set(ids)
  return runOf(
    run.source,
    run.cases.filter(({ id }) => wanted.has(id)),
  )
}

/** Tests that count: not those that were skipped or failed as expected. */
export const totalOf = ({ passed, failed, errors }: TestRun): number => passed + failed + errors

/** The same cases, the second of one identity as `id #2` and so on. */
function numbered(cases: readonly TestCase[]): readonly TestCase[] {
  const seen = new Map<string, number>()
  return cases.map((one) => {
    const times = (seen.get(one.id) ?? 0) + 1
    seen.set(one.id, times)
    return times === 1 ? one : { ...one, id: `${one.id} #${times}` }
  })
}

/** The end of a text that is too long: runners say last what matters most. */
export const cutMessage = (text: string): string =>
  text.length <= mostMessage
    ? text
    : `${text.slice(0, mostMessage / 4)}\n…\n${text.slice((-3 * mostMessage) / 4)}`
