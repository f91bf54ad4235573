import { type LakeQuestion, lakeQuestions } from '@causeway/recording'
import { z } from 'zod'
import { formatCount } from '../domain/sentence.ts'
import { maxPoints, type Registration, readOnly } from './recording-tool.ts'

const deadlineMs = 30_000

const [first, ...otherNames] = lakeQuestions.map(({ name }) => name)

export const lakeTools: readonly Registration[] = [
  (app) =>
    app.tool('query_runs', {
      title: 'Query all runs',
      about:
        'Return speeds, depths or iterations from the frames of all finished runs. Use list_runs for verdicts.',
      hints: readOnly,
      input: {
        question: z.enum([first ?? '', ...otherNames]).describe(describeQuestions(lakeQuestions)),
        scenario: z.string().optional().describe('Default: all'),
        commit: z.string().optional().describe('Full hash'),
        threshold: z.number().optional().describe('m/s or m'),
        limit: z.int().optional().describe('Default: 100'),
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
        const { rows, truncated, waiting } = await store.lake.runQuery(query, { signal, progress })
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
