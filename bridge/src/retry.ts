import type { Incoming } from './message.ts'
import type { Reply } from './reply.ts'

/** Methods without effects, or with the same effect however often they come: repeating one is always safe. */
const repeatable = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
])

/** True where repeating a request of this method is safe whatever the server made of the first. */
export const isRepeatable = (method: string): boolean => repeatable.has(method)

const harmless = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/roots/list_changed',
])

/** True for a message without an answer that may come twice: the server knows the second answer to a question as one. */
export const isHarmlessTwice = ({ kind, method }: Pick<Incoming, 'kind' | 'method'>): boolean =>
  kind === 'response' || (kind === 'notification' && harmless.has(method))

/** A kept-alive connection that the server had closed fails like this on its next use. */
const staleSocket = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** There is no server, or no way to it, at this moment. */
const noServer = new Set([
  'ECONNREFUSED',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code)

/** True for a failure of a connection that was open before: the next one may work at once. */
export const isStale = (error: unknown): boolean => staleSocket.has(codeOf(error))

/**
 * True when a call whose connection failed may be sent again: nothing was written, or the call may safely come
 * twice. Never once the server had begun to answer, nor after a failure that would come again, as of a certificate.
 */
export function mayRepeat(
  error: unknown,
  { isSafe, wasWritten, wasAnswered }: { isSafe: boolean; wasWritten: boolean; wasAnswered: boolean },
): boolean {
  if (wasAnswered || !(isStale(error) || noServer.has(codeOf(error)))) return false
  return !wasWritten || isSafe
}

/** The longest that a server which is there may make a call wait, in milliseconds. */
const longestWishMs = 5000

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * The milliseconds that the server asks to wait for, by `Retry-After` in seconds or as a date
 * (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after). A date is compared with the server's own, so that two
 * clocks which disagree do no harm.
 */
export function retryAfterMs(
  { headers }: Pick<Reply, 'headers'>,
  now: () => number = Date.now,
): number | undefined {
  const wish = headers['retry-after']
  if (wish === undefined) return undefined
  if (/^\d{1,9}$/.test(wish)) return Number(wish) * 1000
  const until = httpDate.test(wish) ? Date.parse(wish) : Number.NaN
  if (Number.isNaN(until)) return undefined
  const sent = Date.parse(headers.date ?? '')
  return Math.max(0, until - (Number.isNaN(sent) ? now() : sent))
}

/**
 * True for a refusal after which the same stream may be asked for again: the server still has the one before open, or is
 * not to be had now, for however long.
 */
export const isBusy = ({ status }: Pick<Reply, 'status'>): boolean =>
  [408, 409, 429, 502, 503, 504].includes(status)

/**
 * True where the answer says "not now": a server that starts, is overloaded or stands behind a proxy that cannot reach
 * it. One that names a time must name it, and a short one, to be asked again for 429.
 */
export function isPassing(reply: Pick<Reply, 'status' | 'headers'>): boolean {
  const wishMs = retryAfterMs(reply)
  if (wishMs !== undefined && wishMs > longestWishMs) return false
  return reply.status === 429 ? wishMs !== undefined : [408, 502, 503, 504].includes(reply.status)
}

/**
 * Milliseconds until reconnection number `attempt` (from 0): the base doubling to 30 s, and up to a quarter more by
 * `random`, so that many bridges do not return in the same instant. Never less than the base, as the server asked.
 */
export const backoff = (attempt: number, random: () => number, baseMs = 1000): number =>
  Math.max(baseMs, Math.min(30_000, baseMs * 2 ** attempt)) * (1 + random() / 4)
