import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { EvalResult } from './domain/evaluation/result.ts'
import { TestMatrix, type TestRow } from './domain/evaluation/test-matrix.ts'
import type { TestRun } from './domain/report/test-run.ts'
import type { Critic } from './session/critic.ts'
import { diffStep } from './session/step-diff.ts'
import type { ClientState } from './tools/tool-context.ts'

const maxTests = 500

export function declareRoutes(app: Registrar<Critic, ClientState>): void {
  app.route('GET', '/sessions/{sid}/evaluations/{position}/diff', {
    about:
      'Returns the changes of the files in an evaluation as unified diffs. The first evaluation of a session has position 0.',
    async handle(_request, { sid, position = '' }, { store }) {
      if (!/^\d{1,6}$/.test(position))
        throw new CausewayError('INVALID_ARGUMENTS', 'position is not a number', {
          data: { problems: [{ argument: 'position', problem: 'must be 0 or more' }] },
        })
      return Response.json({ files: await diffStep(store, sid, Number(position)) })
    },
  })
  app.route('GET', '/sessions/{sid}/tests', {
    about: `Returns how each test ended in each evaluation of a session: \`pass\`, \`fail\`, \`skip\`, \`missing\`, or \`unknown\` if the stored result does not show it. At most ${maxTests} tests, those that failed or did not run first; \`count\` is the number of all.`,
    async handle(_request, { sid }, { store }) {
      const { id, baseline } = await store.findSession(sid)
      const results = store.store.readResults(id)
      return Response.json(await listTestOutcomes(baseline?.tests?.cases ?? [], results, maxTests))
    },
  })
}

/** Number of items processed per turn of the event loop, which takes a few milliseconds. */
const [casesPerTurn, rowsPerTurn] = [500, 10]

/** Returns the first `limit` tests and the number of all tests. Lets other requests run in between. */
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
