import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EvalResult } from '../domain/evaluation/result.ts'
import { TestMatrix, type TestRow } from '../domain/evaluation/test-matrix.ts'
import type { TestRun } from '../domain/report/test-run.ts'

/** Work between two turns of the event loop, a few milliseconds. */
const [casesPerTurn, rowsPerTurn] = [500, 10]

/** Returns the first `limit` tests and the number of all. Serves other requests in between. */
export async function listTestOutcomes(
  cases: TestRun['cases'],
  results: AsyncIterable<EvalResult | null> | Iterable<EvalResult | null>,
  limit: number,
): Promise<{ readonly tests: readonly TestRow[]; readonly count: number }> {
  const matrix = new TestMatrix()
  for (let start = 0; start < cases.length; start += casesPerTurn) {
    matrix.addCases(cases.slice(start, start + casesPerTurn))
    await nextTurn()
  }
  for await (const result of results) {
    matrix.addEvaluation(result)
    await nextTurn()
  }
  const tests: TestRow[] = []
  for (const row of matrix.rows()) {
    if (tests.push(row) >= limit) break
    if (tests.length % rowsPerTurn === 0) await nextTurn()
  }
  return { tests, count: matrix.count }
}
