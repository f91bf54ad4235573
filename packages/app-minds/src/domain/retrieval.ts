/** Which memories come to mind: relevance, importance and recency of each, with a floor, and none twice. */
import { shareOfStems, stemSet, stemsKey } from './words.ts'

/** A memory that might come to mind. */
export interface Found {
  readonly id: string
  readonly content: string
  /** 0 to 10 */
  readonly importance: number
  readonly sim_time: number | null
  /** Cosine to the question, -1 to 1; 0 where either has no vector. */
  readonly cosine: number
  /** Score of the search by words (`lexicalScores`), 0 where it did not find it. */
  readonly lexical: number
  readonly is_superseded: boolean
  readonly tags: readonly string[]
}

/** Weights of retrieval. */
export interface RetrievalWeights {
  readonly relevance: number
  readonly importance: number
  readonly recency: number
  /** Memories for each question, and in all. */
  readonly per_query: number
  readonly most: number
  /** Minutes in which recency halves; null for the original's 1 / (1 + t/1000). */
  readonly half_life_minutes: number | null
}

/** Weights of the original, with true similarity. */
export const retrievalWeights: RetrievalWeights = Object.freeze({
  relevance: 0.5,
  importance: 0.3,
  recency: 0.2,
  per_query: 2,
  most: 8,
  half_life_minutes: null,
})

/** Below this relevance nothing comes to mind, however important it is. */
const relevanceFloor = 0.1

/** A memory that came to mind, and why. */
export interface Recalled {
  readonly id: string
  readonly content: string
  readonly importance: number
  readonly sim_time: number | null
  readonly tags: readonly string[]
  readonly score: number
  readonly relevance: number
  readonly recency: number
  readonly is_superseded: boolean
  /** The question that brought it up. */
  readonly query: string
}

/** The stems of a text; a caller that knows them already gives its own. */
export type StemsOf = (text: string) => ReadonlySet<string>

/**
 * `0.7 max(0, cos) + 0.3 b`, where b is s/(s+5) for the score s of the search by words: stable from call to call, unlike a
 * rank. Among a handful of memories no word is rare, so b is at least the square of the share of the words that are there.
 */
function relevanceOf(
  query: string,
  { cosine, lexical, content }: Pick<Found, 'cosine' | 'lexical' | 'content'>,
  stemsOf: StemsOf = stemSet,
): number {
  const words = lexical > 0 ? shareOfStems(stemsOf(query), stemsOf(content)) ** 2 : 0
  return 0.7 * Math.max(0, cosine) + 0.3 * Math.max(lexical / (lexical + 5), words)
}

/** False where a memory is below the floor whatever its words are: nothing more of it need be looked at. */
export const mayBeRelevant = ({ cosine, lexical }: Pick<Found, 'cosine' | 'lexical'>): boolean =>
  lexical > 0 || 0.7 * cosine >= relevanceFloor

/** 1 now, falling with age; 0.5 where a time is missing. A time that lies ahead, after a reload, counts as now. */
function recencyOf(simTime: number | null, now: number | null, halfLife: number | null): number {
  if (simTime === null || now === null) return 0.5
  const age = Math.max(0, now - simTime)
  return halfLife === null ? 1 / (1 + age / 1000) : 0.5 ** (age / halfLife)
}

/** The memories for one question, best first; by id between equals. */
export function rank(
  query: string,
  found: readonly Found[],
  {
    now,
    weights,
    stemsOf = stemSet,
  }: { readonly now: number | null; readonly weights: RetrievalWeights; readonly stemsOf?: StemsOf },
): readonly Recalled[] {
  return found
    .map((memory) => {
      const relevance = relevanceOf(query, memory, stemsOf)
      const recency = recencyOf(memory.sim_time, now, weights.half_life_minutes)
      const whole =
        weights.relevance * relevance +
        weights.importance * (memory.importance / 10) +
        weights.recency * recency
      const score = memory.is_superseded ? whole / 2 : whole
      const { id, content, importance, sim_time, tags, is_superseded } = memory
      return { id, content, importance, sim_time, tags, score, relevance, recency, is_superseded, query }
    })
    .filter(({ relevance }) => relevance >= relevanceFloor)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
}

/**
 * The first of each question's memories that are not alike, merged, best first. Alike are those of the same meaning
 * words; the direction of vectors does not decide it, since two facts that differ in a number have one direction.
 */
export function choose(
  ranked: readonly (readonly Recalled[])[],
  { per_query, most }: Pick<RetrievalWeights, 'per_query' | 'most'>,
  stemsOf: StemsOf = stemSet,
): readonly Recalled[] {
  const chosen = new Map<string, Recalled>()
  const words = new Set<string>()
  for (const memories of ranked) {
    let taken = 0
    for (const memory of memories) {
      if (taken >= per_query) break
      const known = chosen.get(memory.id)
      const key = stemsKey(stemsOf(memory.content))
      if (known === undefined && words.has(key)) continue
      words.add(key)
      taken += 1
      if (known === undefined || memory.score > known.score) chosen.set(memory.id, memory)
    }
  }
  return [...chosen.values()].sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)).slice(0, most)
}

/** The dot product of two vectors of one width; of unit vectors the cosine. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}
