/** When to try again, and whether. */

/** Statuses after which the same request may succeed. */
export const isRetryable = (status: number): boolean =>
  [408, 409, 429, 500, 502, 503, 504, 529].includes(status)

/** Longest wait that a provider may ask for, ms. */
const mostAsked = 10_000

/** `Retry-After` in ms, seconds or a date, at most ten seconds; null where it says nothing sensible. */
export function retryAfterMs(
  header: string | undefined,
  nowMs: number,
  parseDate: (text: string) => number,
): number | null {
  if (header === undefined || header.trim() === '') return null
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : parseDate(header) - nowMs
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, mostAsked) : null
}

/** 250 ms doubled with each attempt, of which a random part: callers that failed together do not return together. */
export const backoffMs = (attempt: number, random: number): number =>
  Math.min(mostAsked, 250 * 2 ** attempt) * random
