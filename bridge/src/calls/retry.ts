import type { Reply } from '../http/reply.ts'
import type { ClientMessage } from '../stdio/message.ts'

/** Methods that may be repeated even if the server has processed them. */
const repeatableMethods = new Set([
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

export const isRepeatable = (method: string): boolean => repeatableMethods.has(method)

const repeatableNotifications = new Set([
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/roots/list_changed',
])

/** Whether this notification or response may be sent twice. Servers ignore a second response to a request. */
export const isSafeToResend = ({ kind, method }: Pick<ClientMessage, 'kind' | 'method'>): boolean =>
  kind === 'response' || (kind === 'notification' && repeatableNotifications.has(method))

const staleCodes = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

const unreachableCodes = new Set([
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

const getCode = (error: unknown): string => String((error as { code?: unknown }).code)

/** Whether the server closed a keep-alive connection. A new one may work immediately. */
export const isStale = (error: unknown): boolean => staleCodes.has(getCode(error))

/**
 * Returns `false` if a response has started, if the server may have received an unsafe request, and for permanent failures
 * such as an invalid certificate.
 */
export function canResend(
  error: unknown,
  { isSafe, wasWritten, hasResponse }: { isSafe: boolean; wasWritten: boolean; hasResponse: boolean },
): boolean {
  if (hasResponse || !(isStale(error) || unreachableCodes.has(getCode(error)))) return false
  return !wasWritten || isSafe
}

const maxRequestedMs = 5000

const httpDatePattern = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Parses `Retry-After` (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after). A date is compared with
 * the `Date` header, because the clocks may differ.
 */
export function getRetryAfterMs(
  { headers }: Pick<Reply, 'headers'>,
  now: () => number = Date.now,
): number | undefined {
  const value = headers['retry-after']
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const retryAt = httpDatePattern.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(retryAt)) return undefined
  const sentAt = Date.parse(headers.date ?? '')
  return Math.max(0, retryAt - (Number.isNaN(sentAt) ? now() : sentAt))
}

/** Whether the server is busy, or has not yet closed the previous stream. */
export const isBusy = ({ status }: Pick<Reply, 'status'>): boolean =>
  [408, 409, 429, 502, 503, 504].includes(status)

/** Whether the server is starting or overloaded, or its proxy cannot reach it. 429 counts only with `Retry-After`. */
export function isTemporary(reply: Pick<Reply, 'status' | 'headers'>): boolean {
  const requestedMs = getRetryAfterMs(reply)
  if (requestedMs !== undefined && requestedMs > maxRequestedMs) return false
  return reply.status === 429 ? requestedMs !== undefined : [408, 502, 503, 504].includes(reply.status)
}

/**
 * Returns the delay in milliseconds before retry `attempt` (from 0). It doubles from `baseMs` to 30 s, plus up to
 * 25 % jitter.
 */
export const computeBackoff = (attempt: number, random: () => number, baseMs = 1000): number =>
  Math.max(baseMs, Math.min(30_000, baseMs * 2 ** attempt)) * (1 + random() / 4)
