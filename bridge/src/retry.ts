/** Methods without effects: repeating one is always safe. */
const repeatable = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
])

/** A kept-alive connection that the server had closed fails like this on its next use. */
const staleSocket = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/**
 * True when a call whose connection failed may be sent once more: the connection had gone stale, and either nothing
 * was written to it or the method has no effects. `wasAnswered` says that the server had begun to answer.
 */
export function mayRepeat(
  error: unknown,
  { method, wasWritten, wasAnswered }: { method: string; wasWritten: boolean; wasAnswered: boolean },
): boolean {
  if (wasAnswered || !staleSocket.has(String((error as { code?: unknown }).code))) return false
  return !wasWritten || repeatable.has(method)
}

/**
 * Milliseconds until reconnection number `attempt` (from 0): the base doubling to 30 s, and up to a quarter more by
 * `random`, so that many bridges do not return in the same instant. Never less than the base, as the server asked.
 */
export const backoff = (attempt: number, random: () => number, baseMs = 1000): number =>
  Math.max(baseMs, Math.min(30_000, baseMs * 2 ** attempt)) * (1 + random() / 4)
