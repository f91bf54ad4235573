import { maxNames } from '../feedback/feedback.ts'
import { toTestKey } from '../report/pytest-id.ts'
import type { TestRun, TestStatus } from '../report/test-run.ts'
import { type EvalResult, listFailedTests } from './result.ts'

/** `unknown` means that the stored result does not show how the test ended. */
export type TestOutcome = 'pass' | 'fail' | 'skip' | 'missing' | 'unknown'

export interface TestRow {
  readonly id: string
  /** One outcome for each evaluation of the session. */
  readonly outcomes: readonly TestOutcome[]
}

const baselineOutcomes: Readonly<Record<TestStatus, TestOutcome>> = {
  pass: 'pass',
  fail: 'fail',
  error: 'fail',
  skip: 'skip',
  xfail: 'skip',
}

/** Outcomes of each test in each evaluation, computed when they are read. */
export class TestMatrix {
  readonly #ids = new Map<string, string>()
  readonly #baseline = new Map<string, TestStatus>()
  /** Keys of tests that failed or did not run. */
  readonly #failedKeys = new Set<string>()
  readonly #outcomeFinders: ((key: string) => TestOutcome)[] = []

  /** Adds cases of the baseline. Add all of them before the first evaluation. */
  addCases(cases: TestRun['cases']): void {
    for (const { id, status } of cases) {
      const key = toTestKey(id)
      this.#ids.set(key, id)
      this.#baseline.set(key, status)
    }
  }

  /** Adds the result of an evaluation, or `null` without a result. */
  addEvaluation(result: EvalResult | null): void {
    if (result === null) {
      this.#outcomeFinders.push(() => 'unknown')
      return
    }
    const failedIds = new Map(listFailedTests(result).map((id) => [toTestKey(id), id]))
    const missingKeys = new Set(result.missing.map(toTestKey))
    for (const [key, id] of failedIds) this.#ids.set(key, id)
    const findOutcome = createOutcomeFinder(result, { failedIds, missingKeys, baseline: this.#baseline })
    this.#outcomeFinders.push(findOutcome)
    const baselineKeys = result.kind === 'baseline' ? this.#baseline.keys() : []
    for (const key of [...failedIds.keys(), ...missingKeys, ...baselineKeys])
      if (['fail', 'missing'].includes(findOutcome(key))) this.#failedKeys.add(key)
  }

  get count(): number {
    return this.#ids.size
  }

  /** Yields all tests, first those that failed or did not run. */
  *rows(): Generator<TestRow> {
    for (const isFailed of [true, false])
      for (const [key, id] of this.#ids)
        if (this.#failedKeys.has(key) === isFailed)
          yield { id, outcomes: this.#outcomeFinders.map((findOutcome) => findOutcome(key)) }
  }
}

interface OutcomeSources {
  readonly failedIds: ReadonlyMap<string, string>
  readonly missingKeys: ReadonlySet<string>
  readonly baseline: ReadonlyMap<string, TestStatus>
}

function createOutcomeFinder(
  result: EvalResult,
  { failedIds, missingKeys, baseline }: OutcomeSources,
): (key: string) => TestOutcome {
  const { tests, missingCount, kind } = result
  const skipped = new Set(result.newlySkipped.map(toTestKey))
  const repaired = new Set(result.repaired.map(toTestKey))
  // A result contains all names of tests that did not pass, unless there are too many.
  const isComplete =
    failedIds.size >= (tests?.failed ?? Number.POSITIVE_INFINITY) &&
    result.missing.length >= missingCount &&
    result.newlySkipped.length < maxNames
  return (key) => {
    const status = baseline.get(key)
    if (kind === 'baseline' && status !== undefined) return baselineOutcomes[status]
    if (failedIds.has(key)) return 'fail'
    if (missingKeys.has(key)) return 'missing'
    if (skipped.has(key)) return 'skip'
    const hasRun = status === 'pass' || status === 'fail'
    return repaired.has(key) || (hasRun && isComplete) ? 'pass' : 'unknown'
  }
}
