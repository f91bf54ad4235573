import { judgeAnswer } from './judge-answer.ts'
import type { Memory } from './memory.ts'
import { findQuestion } from './policy/dialogue.ts'
import { parseQuestion } from './question.ts'
import type { WordRelations } from './word-relations.ts'
import { computeStemShare, createStemSet, createStemsKey, type StemFunction } from './words.ts'

type SearchedMemory = Pick<Memory, 'id' | 'content' | 'importance' | 'sim_time' | 'tags'>

export interface MemoryCandidate extends SearchedMemory {
  /** Cosine similarity to the query, -1 to 1, or 0 if the memory or query has no vector. */
  readonly cosine: number
  /** Score from `computeLexicalScores`, or 0 if no word matches. */
  readonly lexical: number
  readonly is_superseded: boolean
}

export const toCandidate = (
  { id, content, importance, sim_time, tags }: SearchedMemory,
  { cosine, lexical }: Pick<MemoryCandidate, 'cosine' | 'lexical'>,
  is_superseded: boolean,
): MemoryCandidate => ({ id, content, importance, sim_time, cosine, lexical, is_superseded, tags })

export interface RetrievalWeights {
  readonly relevance: number
  readonly importance: number
  readonly recency: number
  /** Maximum number of memories per query, and in total. */
  readonly per_query: number
  readonly most: number
  /** Half-life of recency in game minutes. If `null`, recency is 1 / (1 + t/1000). */
  readonly half_life_minutes: number | null
}

export const retrievalWeights: RetrievalWeights = Object.freeze({
  relevance: 0.5,
  importance: 0.3,
  recency: 0.2,
  per_query: 2,
  most: 8,
  half_life_minutes: null,
})

const minRelevance = 0.1

export interface RecalledMemory extends SearchedMemory {
  readonly score: number
  readonly relevance: number
  readonly recency: number
  readonly is_superseded: boolean
  readonly query: string
}

/**
 * Returns `0.7 max(0, cos) + 0.3 b`, where b is s/(s+5) for the lexical score s, but at least the squared fraction of
 * query stems in the memory.
 */
function computeRelevance(
  query: string,
  { cosine, lexical, content }: Pick<MemoryCandidate, 'cosine' | 'lexical' | 'content'>,
  getStems: StemFunction = createStemSet,
): number {
  const stemShare = lexical > 0 ? computeStemShare(getStems(query), getStems(content)) ** 2 : 0
  return 0.7 * Math.max(0, cosine) + 0.3 * Math.max(lexical / (lexical + 5), stemShare)
}

/** Whether a memory can reach the minimum relevance. Does not read its content. */
export const canBeRelevant = ({ cosine, lexical }: Pick<MemoryCandidate, 'cosine' | 'lexical'>): boolean =>
  lexical > 0 || 0.7 * cosine >= minRelevance

/** Returns 1 for the present and the future (possible in a loaded save), less for the past, 0.5 without a time. */
function computeRecency(simTime: number | null, now: number | null, halfLife: number | null): number {
  if (simTime === null || now === null) return 0.5
  const age = Math.max(0, now - simTime)
  return halfLife === null ? 1 / (1 + age / 1000) : 0.5 ** (age / halfLife)
}

/** Relevance of a memory that fully answers a question. */
const maxAnswerRelevance = 0.7
const minSupport = 0.6

/** Ranks memories, best first. Answers to the query score higher, superseded facts and questions from others lower. */
export function rankMemories(
  query: string,
  candidates: readonly MemoryCandidate[],
  {
    now,
    weights,
    relations,
    getStems = createStemSet,
  }: {
    readonly now: number | null
    readonly weights: RetrievalWeights
    readonly relations: WordRelations
    readonly getStems?: StemFunction
  },
): readonly RecalledMemory[] {
  const question = findQuestion(query) === undefined ? undefined : parseQuestion(query, now)
  return candidates
    .map((memory) => {
      const answerScore =
        question === undefined ? 0 : judgeAnswer(question, memory, { minSupport, relations })
      const relevance = Math.max(computeRelevance(query, memory, getStems), maxAnswerRelevance * answerScore)
      const recency = computeRecency(memory.sim_time, now, weights.half_life_minutes)
      const weightedSum =
        weights.relevance * relevance +
        weights.importance * (memory.importance / 10) +
        weights.recency * recency
      const factor = memory.tags.includes('question') ? 0.25 : memory.is_superseded ? 0.5 : 1
      const score = factor * weightedSum
      const { id, content, importance, sim_time, tags, is_superseded } = memory
      return { id, content, importance, sim_time, tags, score, relevance, recency, is_superseded, query }
    })
    .filter(({ relevance }) => relevance >= minRelevance)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
}

/**
 * Merges the best memories of each query, best first. Retains one of several memories with the same stems. Does not
 * compare vectors, because facts that differ only in a number have equal vectors.
 */
export function mergeRanked(
  ranked: readonly (readonly RecalledMemory[])[],
  { per_query, most }: Pick<RetrievalWeights, 'per_query' | 'most'>,
  getStems: StemFunction = createStemSet,
): readonly RecalledMemory[] {
  const selectedMemories = new Map<string, RecalledMemory>()
  const contentKeys = new Set<string>()
  for (const memories of ranked) {
    let takenCount = 0
    for (const memory of memories) {
      if (takenCount >= per_query) break
      const previousMemory = selectedMemories.get(memory.id)
      const key = createStemsKey(getStems(memory.content))
      if (previousMemory === undefined && contentKeys.has(key)) continue
      contentKeys.add(key)
      takenCount += 1
      if (previousMemory === undefined || memory.score > previousMemory.score)
        selectedMemories.set(memory.id, memory)
    }
  }
  return [...selectedMemories.values()]
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, most)
}

export function computeDotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}
