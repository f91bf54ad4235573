export const isRetryable = (status: number): boolean =>
  [408, 409, 429, 500, 502, 503, 504, 529].includes(status)

const maxDelayMs = 10_000

/** Converts `Retry-After` (seconds or a date) to milliseconds, at most 10,000. Returns `null` if invalid. */
export function parseRetryAfterMs(
  header: string | undefined,
  nowMs: number,
  parseDate: (text: string) => number,
): number | null {
  if (header === undefined || header.trim() === '') return null
  const seconds = Number(header)
  const delayMs = Number.isFinite(seconds) ? seconds * 1000 : parseDate(header) - nowMs
  return Number.isFinite(delayMs) && delayMs >= 0 ? Math.min(delayMs, maxDelayMs) : null
}

/** Returns a backoff with full jitter: 0 to 250 * 2^attempt ms, at most 10 s. Prevents simultaneous retries. */
export const computeBackoffMs = (attempt: number, random: number): number =>
  Math.min(maxDelayMs, 250 * 2 ** attempt) * random
