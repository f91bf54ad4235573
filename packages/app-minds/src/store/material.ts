/** What the data file has for questions to one mind, beside vectors. */
import type { Postings } from '../domain/lexical.ts'
import type { Tables } from './tables.ts'
import type { Material, StandingMaterial } from './types.ts'

/** Which material is wanted. */
export interface WantedMaterial {
  /** Words of questions, each once. */
  readonly words: readonly string[]
  readonly today?: boolean
  /** So many of the newest and of the most important memories, and the last vector of a space. */
  readonly standing?: { readonly beside: number; readonly embedderId: string } | undefined
}

/** The material that was wanted. */
export type FoundMaterial = Pick<Material, 'postings'> & Partial<Material>

/** Finds material inside a transaction; members that are not wanted are absent. */
export function materialOf(
  memories: Tables['memories'],
  mindSeq: number,
  { words, today, standing }: WantedMaterial,
): FoundMaterial {
  return {
    ...(today === true ? { today: memories.daily(mindSeq) } : {}),
    postings: postingsOf(memories, mindSeq, words),
    ...(standing === undefined ? {} : { standing: standingOf(memories, mindSeq, standing) }),
  }
}

/** For each word the lasting memories of a mind that have it. */
export const postingsOf = (
  memories: Tables['memories'],
  mindSeq: number,
  words: readonly string[],
): Postings => new Map(words.map((word) => [word, memories.having(mindSeq, word)]))

function standingOf(
  memories: Tables['memories'],
  mindSeq: number,
  { beside, embedderId }: NonNullable<WantedMaterial['standing']>,
): StandingMaterial {
  const rows = [...memories.newest(mindSeq, beside), ...memories.weightiest(mindSeq, beside)]
  return {
    rows: [...new Map(rows.map((row) => [row.seq, row])).values()],
    lastVector: memories.lastVector(mindSeq, embedderId),
  }
}
