/**
 * A token bucket: calls at `perSecond` in the long run, `burst` at once after a rest. Refills by fractions, on whatever
 * monotonic clock the caller brings; a refused call takes nothing.
 *
 * The whole state is one number, the instant in ms at which the bucket will be full again (the generic cell rate
 * algorithm, ITU-T I.371), so that a bucket which is full needs not be kept.
 */

/** How much may be taken from a bucket. */
export interface Rate {
  readonly perSecond: number
  /** Tokens of a full bucket. */
  readonly burst: number
}

/** The state of a bucket that nothing was taken from lately. */
export const full = Number.NEGATIVE_INFINITY

/** Milliseconds until one token is there; 0 where it is. */
export function waitMs(fullAtMs: number, nowMs: number, { perSecond, burst }: Rate): number {
  const missingMs = Math.max(fullAtMs - nowMs, 0)
  const wait = missingMs - ((burst - 1) * 1000) / perSecond
  // What is less than a microsecond is the rounding of clocks that have run for long.
  return wait > 1e-3 ? wait : 0
}

/** The state after one token was taken. */
export const taken = (fullAtMs: number, nowMs: number, { perSecond }: Rate): number =>
  Math.max(fullAtMs, nowMs) + 1000 / perSecond

/** Whole tokens that are left. */
export const left = (fullAtMs: number, nowMs: number, { perSecond, burst }: Rate): number =>
  Math.floor(burst - (Math.max(fullAtMs - nowMs, 0) * perSecond) / 1000 + 1e-9)
