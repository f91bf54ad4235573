/** Chance that can be repeated: a failure names its seed, and the seed brings it back. */
import { mulberry32 } from '../fixtures/generate/mulberry32.ts'

/** A generator of numbers: the same seed gives the same sequence. */
export interface Random {
  /** A whole number from 0 up to, and not including, `end`. */
  below(end: number): number
  pick<T>(choices: readonly T[]): T
}

/** Begins a sequence; good enough to choose test input. */
export function randomFrom(seed: number): Random {
  const next = mulberry32(seed)
  const random: Random = {
    below: (end) => Math.floor(next() * end),
    pick: (choices) => choices[random.below(choices.length)] as (typeof choices)[number],
  }
  return random
}
