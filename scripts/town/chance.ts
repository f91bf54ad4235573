/** Chance of a town: the same seed gives the same numbers. */
export interface Chance {
  /** 0 <= n < 1 */
  next(): number
  /** A whole number from 0 up to, and not including, `end`. */
  below(end: number): number
  pick<T>(choices: readonly T[]): T
}

/** Mulberry32, by Tommy Ettinger (public domain). */
export function chanceOf(seed: number): Chance {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  return { next, below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] }
}
