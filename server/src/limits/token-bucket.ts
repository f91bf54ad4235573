/**
 * A token bucket that refills continuously. Its state is the time at which it will be full, in milliseconds of a monotonic
 * clock (generic cell rate algorithm, ITU-T I.371), so full buckets need not be stored.
 */

export interface Rate {
  readonly perSecond: number
  /** Tokens of a full bucket. */
  readonly burst: number
}

export const fullBucket = Number.NEGATIVE_INFINITY

/** Returns the milliseconds until a token is available; 0 if one is. */
export function waitTimeMs(fullAtMs: number, nowMs: number, { perSecond, burst }: Rate): number {
  const missingMs = Math.max(fullAtMs - nowMs, 0)
  const wait = missingMs - ((burst - 1) * 1000) / perSecond
  // Less than a microsecond is a rounding error.
  return wait > 1e-3 ? wait : 0
}

/** Returns the state after taking one token. */
export const takeToken = (fullAtMs: number, nowMs: number, { perSecond }: Rate): number =>
  Math.max(fullAtMs, nowMs) + 1000 / perSecond
