import { isCausewayError } from '@causeway/protocol'
import { computeLexicalScores, getQueryWords } from '../domain/lexical.ts'
import { findQuestion } from '../domain/policy/dialogue.ts'
import { parseQuestion } from '../domain/question.ts'
import {
  canBeRelevant,
  type MemoryCandidate,
  mergeRanked,
  type RecalledMemory,
  type RetrievalWeights,
  rankMemories,
  retrievalWeights,
  toCandidate,
} from '../domain/retrieval.ts'
import type { MindsFile } from '../store/minds-file.ts'
import type { MindRow, RecallData } from '../store/types.ts'
import type { DailySearch, MemoryQuery } from './daily-search.ts'
import { type Embedding, packVector } from './embedding.ts'
import type { MemoryCache } from './memory-cache.ts'
import type { RelationsFile } from './relations-file.ts'
import type { VectorSearch } from './vector-search.ts'

export interface RecallServices {
  readonly file: MindsFile
  readonly cache: MemoryCache
  readonly embedding: Embedding
  readonly search: VectorSearch
  readonly daily: DailySearch
  readonly relations: RelationsFile
}

export interface RecallResult {
  readonly recalled: readonly RecalledMemory[]
  readonly byQuery: readonly (readonly RecalledMemory[])[]
  readonly warnings: readonly string[]
}

/** Maximum candidates per index, and numbers of newest and of most important memories that are always candidates. */
const maxCandidates = 50
const extraCount = 10

/** Lexical score of a memory that matches only the period. */
const periodScore = 0.01

/** After this timeout, the search uses only words. */
const vectorsTimeoutMs = 4000

/** Maximum missing vectors added per search. */
const embedBatchSize = 256

export function getWeights({ config: { retrieval } }: Pick<MindRow, 'config'>): RetrievalWeights {
  const overrides = Object.entries(retrieval).filter(([, value]) => value !== undefined)
  return { ...retrievalWeights, ...Object.fromEntries(overrides) }
}

/** Searches without vectors, and adds a warning, if vectors are unavailable. */
export async function recall(
  mind: MindRow,
  queries: readonly string[],
  {
    now,
    weights,
    includesToday,
  }: { readonly now: number | null; readonly weights: RetrievalWeights; readonly includesToday: boolean },
  services: RecallServices,
): Promise<RecallResult> {
  if (queries.length === 0) return { recalled: [], byQuery: [], warnings: [] }
  const { cache, embedding, daily } = services
  if (mind.memory_count > 0) await addMissingVectors(mind, services)
  const words = queries.map(getQueryWords)
  const data = await cache.readRecallData(mind, {
    words: [...new Set(words.flat())],
    extraCount,
    embedderId: embedding.id,
    includesToday,
  })
  const warnings: string[] = []
  const texts = [...queries, ...data.today.map(({ content }) => content)]
  const vectors = await embedding.computeVectors(texts, vectorsTimeoutMs).catch((error: unknown) => {
    if (!isCausewayError(error)) throw error
    warnings.push(`memories were searched by words only: ${error.message}`)
    return []
  })
  const memoryQueries = queries.map((text, i) => ({ text, words: words[i] ?? [], vector: vectors[i] }))
  const longTermCandidates = await findLongTerm(mind, memoryQueries, data, { ...services, now })
  const recentCandidates = daily.find(memoryQueries, data.today, vectors.slice(queries.length))
  const { getStems } = daily
  const relations = await services.relations.get()
  const byQuery = queries.map((text, i) =>
    rankMemories(text, [...(longTermCandidates[i] ?? []), ...(recentCandidates[i] ?? [])], {
      now,
      weights,
      relations,
      getStems,
    }),
  )
  return { recalled: mergeRanked(byQuery, weights, getStems), byQuery, warnings }
}

async function findLongTerm(
  mind: MindRow,
  queries: readonly MemoryQuery[],
  { postings, defaults, today }: RecallData,
  { cache, embedding, search, daily, file, now }: RecallServices & { readonly now: number | null },
): Promise<readonly (readonly MemoryCandidate[])[]> {
  if (mind.memory_count === 0) return []
  const periods = queries.map(({ text }) => parseQuestion(text, now).period)
  const inPeriod = await Promise.all(
    periods.map((period) =>
      period === null
        ? []
        : file.read(({ memories }) => memories.listBetween(mind.seq, period, maxCandidates)),
    ),
  )
  const isCorrected = daily.findCorrections(queries, today)
  const scores = queries.map(({ words }, index) => {
    const lexicalScores = computeLexicalScores(words, postings, {
      memoryCount: mind.memory_count,
      limit: maxCandidates,
    })
    const otherRows = (inPeriod[index] ?? []).filter(({ seq }) => !lexicalScores.has(seq))
    return new Map([...lexicalScores, ...otherRows.map(({ seq }) => [seq, periodScore] as const)])
  })
  const alwaysIncludedSeqs = [
    ...new Set([
      ...scores.flatMap((queryScores) => [...queryScores.keys()]),
      ...defaults.rows.map(({ seq }) => seq),
    ]),
  ]
  const queryIndices = queries.flatMap(({ vector }, index) => (vector === undefined ? [] : [index]))
  const vectorQuery = {
    mindSeq: mind.seq,
    embedderId: embedding.id,
    width: embedding.width,
    queries: queries.flatMap(({ vector }) => vector ?? []),
    maxMatches: maxCandidates,
    alwaysIncludedSeqs,
    lastSeq: defaults.lastVector,
  }
  const matches = queryIndices.length === 0 ? [] : await search.search(vectorQuery, mind.memory_count)
  const isQuestion = queries.map(({ text }) => findQuestion(text) !== undefined)
  const relevantMatches = queries.map((_, index) => {
    const cosines = new Map(matches[queryIndices.indexOf(index)] ?? [])
    return [...new Set([...alwaysIncludedSeqs, ...cosines.keys()])].flatMap((seq) => {
      const match = { cosine: cosines.get(seq) ?? 0, lexical: scores[index]?.get(seq) ?? 0 }
      return canBeRelevant(match) || isQuestion[index] ? [{ seq, ...match }] : []
    })
  })
  const rows = await cache.readRows(mind, [...new Set(relevantMatches.flat().map(({ seq }) => seq))])
  const rowsBySeq = new Map(
    rows.map((row) => [row.seq, { row, isSuperseded: row.superseded_by !== null || isCorrected(row) }]),
  )
  return relevantMatches.map((queryMatches) =>
    queryMatches.flatMap(({ seq, ...match }) => {
      const loadedRow = rowsBySeq.get(seq)
      return loadedRow === undefined ? [] : [toCandidate(loadedRow.row, match, loadedRow.isSuperseded)]
    }),
  )
}

/** Adds one batch of missing vectors. Returns `unreachable` if they cannot be computed. */
export async function addMissingVectors(
  { seq, embedder_id }: Pick<MindRow, 'seq' | 'embedder_id'>,
  { file, embedding, search }: Pick<RecallServices, 'file' | 'embedding' | 'search'>,
): Promise<'complete' | 'more' | 'unreachable'> {
  if (embedder_id === embedding.id) return 'complete'
  const rows = await file.read(({ memories }) =>
    memories.listWithoutVector(seq, embedding.id, embedBatchSize),
  )
  const texts = rows.map(({ content }) => content)
  const vectors = await embedding.computeVectors(texts, vectorsTimeoutMs).catch((error: unknown) => {
    if (isCausewayError(error)) return undefined
    throw error
  })
  if (vectors === undefined) return 'unreachable'
  const isLast = rows.length < embedBatchSize
  await file.write(({ minds, memories }) => {
    for (const [i, row] of rows.entries())
      memories.addVector(seq, row.seq, embedding.id, packVector(vectors[i]))
    minds.markMemoriesChanged(seq, 0)
    if (isLast) minds.setEmbedder(seq, embedding.id)
  })
  search.drop(seq)
  return isLast ? 'complete' : 'more'
}
