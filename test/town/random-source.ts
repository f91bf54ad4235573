import { mulberry32 } from '../../fixtures/generate/mulberry32.ts'

/** A seeded random number generator: the same seed yields the same sequence. */
export interface RandomSource {
  /** Returns a number from 0 (included) to 1 (excluded). */
  next(): number
  /** Returns an integer from 0 (included) to `end` (excluded). */
  below(end: number): number
  pick<T>(choices: readonly T[]): T
}

export function createRandomSource(seed: number): RandomSource {
  const next = mulberry32(seed)
  const below = (end: number): number => Math.floor(next() * end)
  return { next, below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] }
}
