import { maxNames } from '../feedback/feedback.ts'
import { toTestKey } from '../report/pytest-id.ts'
import type { TestRun, TestStatus } from '../report/test-run.ts'
import type { EvalResult } from './result.ts'

/** `unknown`: the stored result does not show how the test ended. */
export type TestOutcome = 'pass' | 'fail' | 'skip' | 'missing' | 'unknown'

export interface TestRow {
  readonly id: string
  /** One for each evaluation of the session. */
  readonly outcomes: readonly TestOutcome[]
}

const baselineOutcomes: Readonly<Record<TestStatus, TestOutcome>> = {
  pass: 'pass',
  fail: 'fail',
  error: 'fail',
  skip: 'skip',
  xfail: 'skip',
}

/** Returns how each test ended in each evaluation; `null` is one without a result. Tests that failed or did not run are first. */
export function listTestOutcomes(
  baseline: TestRun | undefined,
  results: readonly (EvalResult | null)[],
): readonly TestRow[] {
  const before = new Map(baseline?.cases.map(({ id, status }) => [toTestKey(id), status]))
  const ids = new Map(
    [...(baseline?.cases ?? []).map(({ id }) => id), ...results.flatMap(listFailing)].map((id) => [
      toTestKey(id),
      id,
    ]),
  )
  const finders = results.map((result) => createFinder(result, before))
  const rows = [...ids].map(([key, id]) => ({ id, outcomes: finders.map((find) => find(key)) }))
  const isBad = ({ outcomes }: TestRow) => outcomes.includes('fail') || outcomes.includes('missing')
  return [...rows.filter(isBad), ...rows.filter((row) => !isBad(row))]
}

/** Results of version 0.1 only have the failures that they describe. */
const listFailing = (result: EvalResult | null): readonly string[] =>
  result?.failing ?? result?.failures.map(({ id }) => id) ?? []

function createFinder(
  result: EvalResult | null,
  before: ReadonlyMap<string, TestStatus>,
): (key: string) => TestOutcome {
  if (result === null) return () => 'unknown'
  const { tests, missingCount, kind } = result
  const toKeys = (ids: readonly string[]) => new Set(ids.map(toTestKey))
  const failing = toKeys(listFailing(result))
  const [missing, skipped, repaired] = [result.missing, result.newlySkipped, result.repaired].map(toKeys)
  // A result contains all names of tests that did not pass, unless there are too many.
  const isComplete =
    failing.size >= (tests?.failed ?? Number.POSITIVE_INFINITY) &&
    result.missing.length >= missingCount &&
    result.newlySkipped.length < maxNames
  return (key) => {
    const status = before.get(key)
    if (kind === 'baseline' && status !== undefined) return baselineOutcomes[status]
    if (failing.has(key)) return 'fail'
    if (missing?.has(key)) return 'missing'
    if (skipped?.has(key)) return 'skip'
    const ran = status === 'pass' || status === 'fail'
    return repaired?.has(key) || (ran && isComplete) ? 'pass' : 'unknown'
  }
}
