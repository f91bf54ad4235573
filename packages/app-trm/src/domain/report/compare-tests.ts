/** A run of tests against the baseline: what vanished, what is skipped now, what broke and what was repaired. */
import { type TestCase, type TestRun, totalOf } from './test-run.ts'

/** How a run differs from the one before any candidate. */
export interface Comparison {
  /** tests of the baseline that did not run now */
  readonly missing: readonly string[]
  /** how many vanished, also where their names are not known */
  readonly missingCount: number
  /** passed at the baseline, skipped now */
  readonly newlySkipped: readonly string[]
  /** passed at the baseline, fail now */
  readonly broken: readonly string[]
  /** failed at the baseline, pass now */
  readonly repaired: readonly string[]
}

const nothing: Comparison = { missing: [], missingCount: 0, newlySkipped: [], broken: [], repaired: [] }

/** Compares by identity where both runs name all their tests, else by the number of tests. */
export function compareTests(baseline: TestRun | undefined, now: TestRun | undefined): Comparison {
  if (baseline === undefined) return nothing
  if (baseline.isComplete && (now === undefined || now.isComplete))
    return byIdentity(baseline.cases, now?.cases ?? [])
  const ran = (run: TestRun): number => totalOf(run) + run.skipped
  const vanished = ran(baseline) - (now === undefined ? 0 : ran(now))
  return { ...nothing, missingCount: Math.max(0, vanished) }
}

function byIdentity(before: readonly TestCase[], now: readonly TestCase[]): Comparison {
  const found = new Map(now.map((one) => [one.id, one.status]))
  // What could not be loaded then stood for the tests in it, and is no test that may be missed.
  const known = before.filter(({ status }) => status !== 'error')
  const where = (was: readonly string[], is: readonly string[]): string[] =>
    known
      .filter(({ id, status }) => was.includes(status) && is.includes(found.get(id) ?? 'absent'))
      .map(({ id }) => id)
  const missing = where(['pass', 'fail', 'skip', 'xfail'], ['absent'])
  return {
    missing,
    missingCount: missing.length,
    newlySkipped: where(['pass'], ['skip', 'xfail']),
    broken: where(['pass'], ['fail', 'error']),
    repaired: before
      .filter(({ id, status }) => (status === 'fail' || status === 'error') && found.get(id) === 'pass')
      .map(({ id }) => id),
  }
}
