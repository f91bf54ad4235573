import { toTestKey } from './pytest-id.ts'
import { countTests, type TestCase, type TestRun } from './test-run.ts'

export interface Comparison {
  readonly missing: readonly string[]
  /** Number of missing tests, even if their names are unknown. */
  readonly missingCount: number
  readonly newlySkipped: readonly string[]
  readonly skippedCount: number
  readonly broken: readonly string[]
  readonly repaired: readonly string[]
}

export const emptyComparison: Comparison = {
  missing: [],
  missingCount: 0,
  newlySkipped: [],
  skippedCount: 0,
  broken: [],
  repaired: [],
}

/** Compares tests by id if both runs name all tests, and by number if not. */
export function compareTests(baseline: TestRun | undefined, now: TestRun | undefined): Comparison {
  if (baseline === undefined) return emptyComparison
  if (baseline.isComplete && (now === undefined || now.isComplete))
    return compareById(baseline.cases, now?.cases ?? [])
  const countAll = (run: TestRun): number => countTests(run) + run.skipped
  const missingCount = Math.max(0, countAll(baseline) - (now === undefined ? 0 : countAll(now)))
  const skippedCount = now === undefined ? 0 : Math.max(0, now.skipped - baseline.skipped)
  return { ...emptyComparison, missingCount, skippedCount }
}

function compareById(before: readonly TestCase[], now: readonly TestCase[]): Comparison {
  const statusByKey = new Map(now.map(({ id, status }) => [toTestKey(id), status]))
  const select = (from: readonly string[], to: readonly string[]): string[] =>
    before
      .filter(
        ({ id, status }) => from.includes(status) && to.includes(statusByKey.get(toTestKey(id)) ?? 'absent'),
      )
      .map(({ id }) => id)
  // An error in the baseline belongs to a file that could not be loaded, not to a test.
  const missing = select(['pass', 'fail', 'skip', 'xfail'], ['absent'])
  const newlySkipped = select(['pass', 'fail', 'error'], ['skip', 'xfail'])
  return {
    missing,
    missingCount: missing.length,
    newlySkipped,
    skippedCount: newlySkipped.length,
    broken: select(['pass'], ['fail', 'error']),
    repaired: select(['fail', 'error'], ['pass']),
  }
}

/**
 * Counts the tests of the baseline and new failures, or all tests if the baseline has errors or no tests. `added` is
 * the number of new passed tests, which do not count.
 */
export function countKnownTests(baseline: TestRun | undefined, now: TestRun) {
  const failed = now.failed + now.errors
  if (baseline === undefined || baseline.errors > 0 || countTests(baseline) === 0)
    return { passed: now.passed, total: now.passed + failed, added: 0 }
  const added =
    baseline.isComplete && now.isComplete
      ? countAdded(baseline.cases, now.cases)
      : Math.max(0, countTests(now) + now.skipped - countTests(baseline) - baseline.skipped)
  const passed = Math.max(0, now.passed - added)
  return { passed, total: passed + failed, added: Math.min(added, now.passed) }
}

function countAdded(before: readonly TestCase[], now: readonly TestCase[]): number {
  const baselineKeys = new Set(before.map(({ id }) => toTestKey(id)))
  return now.filter(({ id, status }) => status === 'pass' && !baselineKeys.has(toTestKey(id))).length
}
