import { maxNames } from '../feedback/feedback.ts'
import { toTestKey } from '../report/pytest-id.ts'
import type { TestRun, TestStatus } from '../report/test-run.ts'
import { type EvalResult, listFailing } from './result.ts'

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
  /** Ids by test key. */
  readonly #ids = new Map<string, string>()
  readonly #before = new Map<string, TestStatus>()
  /** Keys of tests that failed or did not run. */
  readonly #bad = new Set<string>()
  readonly #evaluations: ((key: string) => TestOutcome)[] = []

  /** Adds cases of the baseline. Add all of them before the first evaluation. */
  addCases(cases: TestRun['cases']): void {
    for (const { id, status } of cases) {
      const key = toTestKey(id)
      this.#ids.set(key, id)
      this.#before.set(key, status)
    }
  }

  /** Adds the result of an evaluation, or `null` without a result. */
  addEvaluation(result: EvalResult | null): void {
    if (result === null) {
      this.#evaluations.push(() => 'unknown')
      return
    }
    const failing = new Map(listFailing(result).map((id) => [toTestKey(id), id]))
    const missing = new Set(result.missing.map(toTestKey))
    for (const [key, id] of failing) this.#ids.set(key, id)
    const find = createFinder(result, { failing, missing, before: this.#before })
    this.#evaluations.push(find)
    const named = result.kind === 'baseline' ? this.#before.keys() : []
    for (const key of [...failing.keys(), ...missing, ...named])
      if (['fail', 'missing'].includes(find(key))) this.#bad.add(key)
  }

  get count(): number {
    return this.#ids.size
  }

  /** Yields all tests, first those that failed or did not run. */
  *rows(): Generator<TestRow> {
    for (const isBad of [true, false])
      for (const [key, id] of this.#ids)
        if (this.#bad.has(key) === isBad) yield { id, outcomes: this.#evaluations.map((find) => find(key)) }
  }
}

interface Keys {
  readonly failing: ReadonlyMap<string, string>
  readonly missing: ReadonlySet<string>
  readonly before: ReadonlyMap<string, TestStatus>
}

function createFinder(result: EvalResult, { failing, missing, before }: Keys): (key: string) => TestOutcome {
  const { tests, missingCount, kind } = result
  const skipped = new Set(result.newlySkipped.map(toTestKey))
  const repaired = new Set(result.repaired.map(toTestKey))
  // A result contains all names of tests that did not pass, unless there are too many.
  const isComplete =
    failing.size >= (tests?.failed ?? Number.POSITIVE_INFINITY) &&
    result.missing.length >= missingCount &&
    result.newlySkipped.length < maxNames
  return (key) => {
    const status = before.get(key)
    if (kind === 'baseline' && status !== undefined) return baselineOutcomes[status]
    if (failing.has(key)) return 'fail'
    if (missing.has(key)) return 'missing'
    if (skipped.has(key)) return 'skip'
    const ran = status === 'pass' || status === 'fail'
    return repaired.has(key) || (ran && isComplete) ? 'pass' : 'unknown'
  }
}
