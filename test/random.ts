/** Chance that can be repeated: a failure names its seed, and the seed brings it back. */

/** A generator of numbers: the same seed gives the same sequence. */
export interface Random {
  /** A whole number from 0 up to, and not including, `end`. */
  below(end: number): number
  pick<T>(choices: readonly T[]): T
}

/** Mulberry32, by Tommy Ettinger (public domain): 32 bits of state, good enough to choose test input. */
export function randomFrom(seed: number): Random {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const random: Random = {
    below: (end) => Math.floor(next() * end),
    pick: (choices) => choices[random.below(choices.length)] as (typeof choices)[number],
  }
  return random
}
