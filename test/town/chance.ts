import { mulberry32 } from '../../fixtures/generate/mulberry32.ts'

/** Chance of a town: the same seed gives the same numbers. */
export interface Chance {
  /** 0 <= n < 1 */
  next(): number
  /** A whole number from 0 up to, and not including, `end`. */
  below(end: number): number
  pick<T>(choices: readonly T[]): T
}

/** Begins a sequence. */
export function chanceOf(seed: number): Chance {
  const next = mulberry32(seed)
  const below = (end: number): number => Math.floor(next() * end)
  return { next, below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] }
}
