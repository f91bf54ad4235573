/** Bringing memories to mind: by meaning and by words, of today and of before, ranked by what `domain/retrieval` says. */
import { isCausewayError } from '@causeway/protocol'
import { lexicalScores, questionWords } from '../domain/lexical.ts'
import {
  choose,
  type Found,
  mayBeRelevant,
  type Recalled,
  type RetrievalWeights,
  rank,
  retrievalWeights,
} from '../domain/retrieval.ts'
import type { MindsFile } from '../store/minds-file.ts'
import type { Material, MindRow } from '../store/types.ts'
import { bytesOf, type Embedding } from './embedding.ts'
import { foundOf, type Question } from './found.ts'
import type { Shelf } from './shelf.ts'
import type { DaySearch } from './today.ts'
import type { VectorSearch } from './vector-search.ts'

/** What memories are found with. */
export interface RecallParts {
  readonly file: Pick<MindsFile, 'unembedded' | 'addVectors'>
  readonly shelf: Shelf
  readonly embedding: Embedding
  readonly search: VectorSearch
  readonly day: DaySearch
}

/** What came to mind. */
export interface Recollections {
  readonly recalled: readonly Recalled[]
  /** All that was ranked for each question, best first. */
  readonly byQuery: readonly (readonly Recalled[])[]
  readonly warnings: readonly string[]
}

/** Memories taken from each index. */
const top = 50
const beside = 10

/** Longest wait for vectors, ms: a character that waits for its memories does not act. */
const vectorsMs = 4000

/** Memories without a vector that get one with a search. */
const oldBatch = 256

/** Weights of a mind, its own before the original's. */
export function weightsOf({ config: { retrieval } }: Pick<MindRow, 'config'>): RetrievalWeights {
  const own = Object.entries(retrieval).filter(([, value]) => value !== undefined)
  return { ...retrievalWeights, ...Object.fromEntries(own) }
}

/** Searches the memories of a mind. A space that cannot be reached leaves the search by words, and a warning. */
export async function recall(
  mind: MindRow,
  queries: readonly string[],
  {
    now,
    weights,
    withToday,
  }: { readonly now: number | null; readonly weights: RetrievalWeights; readonly withToday: boolean },
  { file, shelf, embedding, search, day }: RecallParts,
): Promise<Recollections> {
  if (queries.length === 0) return { recalled: [], byQuery: [], warnings: [] }
  if (mind.memory_count > 0) await embedOld(mind, { file, embedding, search })
  const asked = queries.map(questionWords)
  const material = await shelf.material(mind, {
    words: [...new Set(asked.flat())],
    beside,
    embedderId: embedding.id,
    withToday,
  })
  const warnings: string[] = []
  const texts = [...queries, ...material.today.map(({ content }) => content)]
  const vectors = await embedding.vectors(texts, vectorsMs).catch((error: unknown) => {
    if (!isCausewayError(error)) throw error
    warnings.push(`memories were searched by words alone: ${error.message}`)
    return []
  })
  const questions = queries.map((text, index) => ({
    text,
    words: asked[index] ?? [],
    vector: vectors[index],
  }))
  const lasting = await lastingFound(mind, questions, material, { shelf, embedding, search, day })
  const recent = day.found(questions, material.today, vectors.slice(queries.length))
  const byQuery = questions.map(({ text }, index) =>
    rank(text, [...(lasting[index] ?? []), ...(recent[index] ?? [])], {
      now,
      weights,
      stemsOf: day.stemsOf,
    }),
  )
  return { recalled: choose(byQuery, weights, day.stemsOf), byQuery, warnings }
}

/** Candidates among the memories that last, for each question. */
async function lastingFound(
  mind: MindRow,
  questions: readonly Question[],
  material: Material,
  { shelf, embedding, search, day }: Omit<RecallParts, 'file'>,
): Promise<readonly (readonly Found[])[]> {
  if (mind.memory_count === 0) return []
  const { postings, standing } = material
  const isCorrected = day.corrections(questions, material.today)
  const lexical = questions.map(({ words }) =>
    lexicalScores(words, postings, { memories: mind.memory_count, most: top }),
  )
  const also = [
    ...new Set([...lexical.flatMap((found) => [...found.keys()]), ...standing.rows.map(({ seq }) => seq)]),
  ]
  const directed = questions.flatMap(({ vector }, index) => (vector === undefined ? [] : [index]))
  const question = {
    mindSeq: mind.seq,
    embedderId: embedding.id,
    width: embedding.width,
    queries: questions.flatMap(({ vector }) => vector ?? []),
    top,
    also,
    last: standing.lastVector,
  }
  const answers = directed.length === 0 ? [] : await search.search(question, mind.memory_count)
  const cosines = questions.map((_, index) => new Map(answers[directed.indexOf(index)] ?? []))
  const near = questions.map((_, index) => {
    const wanted = new Set([...also, ...(cosines[index]?.keys() ?? [])])
    return [...wanted].flatMap((seq) => {
      const one = { cosine: cosines[index]?.get(seq) ?? 0, lexical: lexical[index]?.get(seq) ?? 0 }
      return mayBeRelevant(one) ? [{ seq, ...one }] : []
    })
  })
  const rows = await shelf.rows(mind, [...new Set(near.flatMap((found) => found.map(({ seq }) => seq)))])
  const bySeq = new Map(
    rows.map((row) => [row.seq, { row, isOld: row.superseded_by !== null || isCorrected(row) }]),
  )
  return near.map((found) =>
    found.flatMap(({ seq, cosine, lexical }) => {
      const known = bySeq.get(seq)
      return known === undefined ? [] : [foundOf(known.row, { cosine, lexical }, known.isOld)]
    }),
  )
}

/** Gives vectors in the space of today to a batch of memories that have none there, and says whether there are more. */
export async function embedOld(
  mind: Pick<MindRow, 'seq' | 'embedder_id'>,
  { file, embedding, search }: Pick<RecallParts, 'file' | 'embedding' | 'search'>,
): Promise<'complete' | 'more' | 'unreachable'> {
  if (mind.embedder_id === embedding.id) return 'complete'
  const rows = await file.unembedded(mind.seq, embedding.id, oldBatch)
  const texts = rows.map(({ content }) => content)
  const vectors = await embedding.vectors(texts, vectorsMs).catch((error: unknown) => {
    if (isCausewayError(error)) return undefined
    throw error
  })
  if (vectors === undefined) return 'unreachable'
  const isLast = rows.length < oldBatch
  await file.addVectors(
    mind.seq,
    embedding.id,
    rows.map(({ seq }, index) => [seq, bytesOf(vectors[index])] as const),
    isLast,
  )
  search.drop(mind.seq)
  return isLast ? 'complete' : 'more'
}
