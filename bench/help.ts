/** `npm run bench -- help`: measures the quality and speed of Help's search, offline and with a configured endpoint. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbeddingSettings } from '../packages/app-help/src/embedding.ts'
import { causewaySet, topicSet } from './help/causeway.ts'
import { evaluate, type Way } from './help/evaluate.ts'
import { freshSet, untouchedSet } from './help/fresh.ts'
import { heldOutSets } from './help/held-out.ts'
import { measureRebuild, measureSizes } from './help/load.ts'
import { type QuestionSet, tunedSet } from './help/questions.ts'
import type { Score } from './help/score.ts'
import { measureStores } from './help/stores.ts'
import type { Section } from './report.ts'

/** All questions about the documentation of Fastify and undici. */
export const webSet: QuestionSet = {
  sources: tunedSet.sources,
  questions: [tunedSet, heldOutSets['fastify and undici'], freshSet, untouchedSet].flatMap(
    ({ questions }) => questions,
  ),
}

/** Question sets by description; sets over the same sources are adjacent. */
export const questionSets: Readonly<Record<string, QuestionSet>> = {
  'questions used to tune the ranking': tunedSet,
  'difficult questions': heldOutSets['fastify and undici'],
  'fresh questions, first half': freshSet,
  'fresh questions, second half': untouchedSet,
  'all of these together': webSet,
  'all of these, with the default documentation': {
    ...webSet,
    sources: causewaySet.sources,
  },
  'documentation not used for tuning': heldOutSets['pino and date-fns'],
  'questions of new users about Causeway': causewaySet,
  'questions about the guides of Causeway': topicSet,
}

/** The scores that a change may reduce by at most 5 %. */
export const baselineFile = join(import.meta.dirname, 'help/baseline.json')

/** Scores by ranking method. */
export const readBaseline = (): Readonly<Record<Way, Score>> => JSON.parse(readFileSync(baselineFile, 'utf8'))

/** Evaluates and measures Help. The caller deletes `folder`. `write` stores the scores as the new baseline. */
export async function measureHelp(
  folder: string,
  { write, env }: { write: boolean; env: NodeJS.ProcessEnv },
): Promise<Section[]> {
  const endpoint = readEndpoint(env)
  const sections: Section[] = []
  for (const [name, set] of Object.entries(questionSets)) {
    const scores = await evaluate(indexFolder(folder, set), set)
    if (write && set === tunedSet)
      writeFileSync(baselineFile, `${JSON.stringify(rounded(scores), null, 2)}\n`)
    sections.push(quality(`Help: offline, ${name}`, set, scores))
  }
  if (endpoint !== undefined)
    for (const [name, set] of Object.entries(questionSets)) {
      const scores = await evaluate(indexFolder(join(folder, 'endpoint'), set), set, endpoint)
      sections.push(quality(`Help: with the endpoint, ${name}`, set, scores))
    }
  sections.push(
    await measureSizes(folder, { all: true }),
    await measureStores(folder),
    await measureRebuild(folder),
  )
  return sections
}

/** Returns the index folder of a question set; sets over the same pages share an index. */
const indexFolder = (folder: string, { sources }: QuestionSet): string =>
  join(folder, sources.join('-').replaceAll(':', '-'))

function quality(
  title: string,
  { sources, questions }: QuestionSet,
  scores: Readonly<Record<Way, Score>>,
): Section {
  const names = sources.map((name) => name.replace('pkg:', '')).join(', ')
  return {
    title,
    about: `${questions.length} questions, with the documentation of ${names} in the index; one question is ${(100 / questions.length).toFixed(1)} points.`,
    head: ['ranked by', 'hit@1', 'hit@5', 'hit@10', 'MRR'],
    rows: Object.entries(scores).map(([way, { hit1, hit5, hit10, mrr }]) => [
      way,
      ...[hit1, hit5, hit10, mrr].map((share) => share.toFixed(3)),
    ]),
  }
}

function rounded(scores: Readonly<Record<Way, Score>>): unknown {
  return JSON.parse(
    JSON.stringify(scores, (_key, value) => (typeof value === 'number' ? Number(value.toFixed(3)) : value)),
  )
}

function readEndpoint(env: NodeJS.ProcessEnv): EmbeddingSettings | undefined {
  const baseUrl = env.CAUSEWAY_EMBEDDINGS_URL
  if (baseUrl === undefined) return undefined
  const dimensions = Number(env.CAUSEWAY_EMBEDDINGS_DIMENSIONS ?? 0)
  return {
    provider: 'openai',
    baseUrl,
    model: env.CAUSEWAY_EMBEDDINGS_MODEL ?? 'text-embedding-3-large',
    dimensions: dimensions || 3072,
    requestDimensions: dimensions > 0,
    apiKey: env.CAUSEWAY_EMBEDDINGS_KEY,
  }
}
