/** `npm run bench -- help`: how well and how fast Help finds, without a network, and with an endpoint where one is set. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbeddingSettings } from '../../packages/app-help/src/embedding.ts'
import { evaluate, type Way } from './help/evaluate.ts'
import { heldOutSets } from './help/held-out.ts'
import { measureRebuild, measureSizes } from './help/load.ts'
import { type QuestionSet, tunedSet } from './help/questions.ts'
import type { Score } from './help/score.ts'
import type { Section } from './report.ts'

/** The scores that a change may not fall below by more than 5 %. */
export const baselineFile = join(import.meta.dirname, 'help/baseline.json')

/** Figures, by way. */
export const readBaseline = (): Readonly<Record<Way, Score>> => JSON.parse(readFileSync(baselineFile, 'utf8'))

/** Evaluates and measures; `folder` is emptied by the caller. `write` keeps the scores as the new baseline. */
export async function measureHelp(
  folder: string,
  { write, env }: { write: boolean; env: NodeJS.ProcessEnv },
): Promise<Section[]> {
  const scores = await evaluate(join(folder, 'tuned'), tunedSet)
  if (write) writeFileSync(baselineFile, `${JSON.stringify(rounded(scores), null, 2)}\n`)
  const sections = [quality('Help: offline, questions that ranking was chosen by', tunedSet, scores)]
  for (const [name, set] of Object.entries(heldOutSets))
    sections.push(
      quality(
        `Help: offline, questions kept apart, ${name}`,
        set,
        await evaluate(join(folder, `apart-${name}`), set),
      ),
    )
  const endpoint = endpointOf(env)
  if (endpoint !== undefined)
    for (const [name, set] of Object.entries({ 'ranking was chosen by': tunedSet, ...heldOutSets })) {
      const asked = await evaluate(join(folder, `endpoint-${name}`), set, endpoint)
      sections.push(quality(`Help: with the endpoint, ${name}`, set, asked))
    }
  sections.push(await measureSizes(folder, { all: true }), await measureRebuild(folder))
  return sections
}

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

function endpointOf(env: NodeJS.ProcessEnv): EmbeddingSettings | undefined {
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
