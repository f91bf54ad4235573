/**
 * The rate of a bucket that refills continuously. Its state is the time when it will be full, in monotonic
 * milliseconds (generic cell rate algorithm, ITU-T I.371).
 */

export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

export const fullBucket = Number.NEGATIVE_INFINITY

export function getWaitTimeMs(fullAtMs: number, nowMs: number, { perSecond, burst }: Rate): number {
  const missingMs = Math.max(fullAtMs - nowMs, 0)
  const wait = missingMs - ((burst - 1) * 1000) / perSecond
  // A smaller value is a rounding error.
  return wait > 1e-3 ? wait : 0
}

export const takeToken = (fullAtMs: number, nowMs: number, { perSecond }: Rate): number =>
  Math.max(fullAtMs, nowMs) + 1000 / perSecond
