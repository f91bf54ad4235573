/** Returns a number in [0, 1). */
export type Random = () => number

/** 32-bit FNV-1a over UTF-16 code units. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

export function createRandom(seed: number, time: number, counter: number): Random {
  let state = hash32(`${seed}:${time}:${counter}`)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export const pick = <T>(random: Random, options: readonly [T, ...T[]]): T =>
  options[Math.floor(random() * options.length)] ?? options[0]
