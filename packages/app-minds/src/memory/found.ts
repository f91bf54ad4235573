/** Questions as every index takes them, and what an index has found. */
import type { Found } from '../domain/retrieval.ts'
import type { MemoryRow } from '../store/types.ts'

/** A question. */
export interface Question {
  readonly text: string
  /** Its meaning words. */
  readonly words: readonly string[]
  /** undefined where it has no direction, or none can be told */
  readonly vector: Float32Array | undefined
}

/** A memory with how near it is to a question. */
export const foundOf = (
  { id, content, importance, sim_time, tags }: MemoryRow,
  { cosine, lexical }: Pick<Found, 'cosine' | 'lexical'>,
  is_superseded: boolean,
): Found => ({ id, content, importance, sim_time, cosine, lexical, is_superseded, tags })
