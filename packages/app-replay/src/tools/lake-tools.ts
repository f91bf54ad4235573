import { type LakeQuestion, lakeQuestions } from '@causeway/recording'
import { z } from 'zod'
import { formatCount } from '../domain/sentence.ts'
import { maxPoints, type Registration, readOnly } from './recording-tool.ts'

const deadlineMs = 30_000

const [first, ...others] = lakeQuestions.map(({ name }) => name)

export const lakeTools: readonly Registration[] = [
  (app) =>
    app.tool('query_runs', {
      title: 'Query frames of all runs',
      about:
        'Answer one question about the frames of all finished runs: which blew up first where, the worst penetration per run, or solver iterations per commit. Use it when summaries (list_runs) do not suffice.',
      hints: readOnly,
      input: {
        question: z.enum([first ?? '', ...others]).describe(describeQuestions(lakeQuestions)),
        scenario: z.string().optional().describe('Default: all'),
        commit: z.string().optional().describe('Whole commit'),
        threshold: z.number().optional().describe('m/s of blew_up, m of worst_depth'),
        limit: z.int().optional().describe('Maximum rows. Default: 100'),
      },
      example: { args: { question: 'iterations' } },
      async run({ question, scenario, commit, threshold, limit = 100 }, { store, signal, progress }) {
        const query = {
          question,
          filter: { scenario, commit },
          threshold,
          limit: Math.min(Math.max(limit, 1), maxPoints),
          deadlineMs,
        }
        const { rows, truncated, waiting } = await store.lake.ask(query, { signal, progress })
        return {
          question,
          rows,
          truncated,
          engine: store.lake.engine,
          not_exported: waiting,
          summary: `${formatCount(rows.length, 'row')}${truncated ? ', truncated' : ''} from ${store.lake.engine}${waiting > 0 ? `; ${formatCount(waiting, 'run')} are not exported yet: call again` : ''}.`,
        }
      },
    }),
]

function describeQuestions(questions: readonly LakeQuestion[]): string {
  return questions.map(({ name, about }) => `${name}: ${about}`).join('; ')
}
