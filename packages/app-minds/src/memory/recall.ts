/** Bringing memories to mind: by meaning and by words, of today and of before, ranked by what `domain/retrieval` says. */
import { isCausewayError } from '@causeway/protocol'
import {
  choose,
  dot,
  type Found,
  type Recalled,
  type RetrievalWeights,
  rank,
  retrievalWeights,
} from '../domain/retrieval.ts'
import type { LexicalRow, MindsFile } from '../store/minds-file.ts'
import type { MemoryRow, MindRow } from '../store/types.ts'
import { bytesOf, type Embedding } from './embedding.ts'
import type { VectorSearch } from './vector-search.ts'

/** What memories are found with. */
export interface RecallParts {
  readonly file: Pick<MindsFile, 'candidates' | 'bySeqs' | 'daily' | 'unembedded' | 'addVectors'>
  readonly embedding: Embedding
  readonly search: VectorSearch
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
  { file, embedding, search }: RecallParts,
): Promise<Recollections> {
  if (queries.length === 0) return { recalled: [], byQuery: [], warnings: [] }
  const today = withToday && mind.daily_count > 0 ? await file.daily(mind.seq) : []
  const warnings: string[] = []
  const texts = [...queries, ...today.map(({ content }) => content)]
  const vectors = await embedding.vectors(texts).catch((error: unknown) => {
    if (!isCausewayError(error)) throw error
    warnings.push(`memories were searched by words alone: ${error.message}`)
    return []
  })
  const lasting = await lastingFound(mind, queries, vectors, { file, embedding, search })
  const byQuery = await Promise.all(
    queries.map(async (query, index) => {
      const recent = await todayFound(mind, query, today, {
        file,
        query: vectors[index],
        vectors: vectors.slice(queries.length),
      })
      return rank(query, [...(lasting[index] ?? []), ...recent], { now, weights })
    }),
  )
  return { recalled: choose(byQuery, weights), byQuery, warnings }
}

/** Candidates among the memories that last, for each question. */
async function lastingFound(
  mind: MindRow,
  queries: readonly string[],
  vectors: readonly (Float32Array | undefined)[],
  { file, embedding, search }: RecallParts,
): Promise<readonly (readonly Found[])[]> {
  if (mind.memory_count === 0) return []
  await embedOld(mind, { file, embedding, search })
  const lexical = await Promise.all(
    queries.map((query, index) =>
      file.candidates('memory', mind.seq, query, { hits: top, beside: index === 0 ? beside : 0 }),
    ),
  )
  const besides = lexical[0]?.beside ?? []
  const also = [
    ...new Set([...lexical.flatMap(({ found }) => [...found.keys()]), ...besides.map(({ seq }) => seq)]),
  ]
  const directed = queries.flatMap((_, index) => (vectors[index] === undefined ? [] : [index]))
  const question = {
    mindSeq: mind.seq,
    embedderId: embedding.id,
    width: embedding.width,
    queries: directed.map((index) => vectors[index] as Float32Array),
    top,
    also,
  }
  const answers = directed.length === 0 ? [] : await search.search(question, mind.memory_count)
  const cosines = queries.map((_, index) => new Map(answers[directed.indexOf(index)] ?? []))
  const wanted = new Set([...also, ...cosines.flatMap((near) => [...near.keys()])])
  for (const { seq } of besides) wanted.delete(seq)
  const rows = [...uniqueRows(besides), ...(await file.bySeqs([...wanted]))]
  return queries.map((_, index) =>
    rows.map((row) =>
      foundOf(row, cosines[index]?.get(row.seq) ?? 0, lexical[index]?.found.get(row.seq) ?? 0),
    ),
  )
}

/** Vectors in the space of today for memories that have none there, a batch with each search. */
async function embedOld(mind: MindRow, { file, embedding, search }: RecallParts): Promise<void> {
  if (mind.embedder_id === embedding.id) return
  const rows = await file.unembedded(mind.seq, embedding.id, oldBatch)
  const vectors = await embedding.vectors(rows.map(({ content }) => content)).catch((error: unknown) => {
    if (isCausewayError(error)) return undefined
    throw error
  })
  if (vectors === undefined) return
  await file.addVectors(
    mind.seq,
    embedding.id,
    rows.map(({ seq }, index) => [seq, bytesOf(vectors[index])] as const),
    rows.length < oldBatch,
  )
  search.drop(mind.seq)
}

async function todayFound(
  mind: MindRow,
  query: string,
  today: readonly MemoryRow[],
  {
    file,
    query: vector,
    vectors,
  }: {
    readonly file: RecallParts['file']
    readonly query: Float32Array | undefined
    readonly vectors: readonly (Float32Array | undefined)[]
  },
): Promise<readonly Found[]> {
  if (today.length === 0) return []
  const { found } = await file.candidates('daily_memory', mind.seq, query, { hits: top, beside: 0 })
  return today.map((row, index) => {
    const own = vectors[index]
    const cosine = vector === undefined || own === undefined ? 0 : dot(vector, own)
    return foundOf(row, cosine, found.get(row.seq) ?? 0)
  })
}

const foundOf = (row: MemoryRow, cosine: number, lexical: LexicalRow['lexical']): Found => ({
  id: row.id,
  content: row.content,
  importance: row.importance,
  sim_time: row.sim_time,
  cosine,
  lexical: Math.max(0, lexical),
  is_superseded: row.superseded_by !== null,
  tags: row.tags,
})

const uniqueRows = (rows: readonly MemoryRow[]): readonly MemoryRow[] => [
  ...new Map(rows.map((row) => [row.seq, row])).values(),
]
