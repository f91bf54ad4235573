/** The two clocks of a process: the time of day, which people and networks set, and the time that passes. Milliseconds. */
export interface Clocks {
  /** Since the epoch. */
  readonly now: () => number
  /** From any beginning; it is never set, and stands still while the machine sleeps. */
  readonly steady: () => number
}

/** Less than this is a clock that is being set right slowly. */
const leastMs = 60_000

/** Tells at each call how far the time of day has jumped since the call before, in whole ms; 0 where it has not. */
export function watchJumps({ now, steady }: Clocks): () => number {
  let between = now() - steady()
  return () => {
    const jumped = Math.round(now() - steady() - between)
    if (Math.abs(jumped) < leastMs) return 0
    between += jumped
    return jumped
  }
}
