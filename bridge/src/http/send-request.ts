import { classifyMessage, type JsonObject } from '@causeway/protocol'
import { createUnreachableError } from '../calls/answer.ts'
import { Deferred } from '../lifecycle/deferred.ts'
import { parseJson } from '../stdio/json.ts'
import { type Reply, ReplyReader } from './reply.ts'
import type { HttpRequest, Upstream } from './upstream.ts'

export interface RequestResult {
  readonly reply: Reply
  readonly response: JsonObject | undefined
}

/**
 * Sends a request. Resolves with the first JSON-RPC response or at the end of the HTTP response. Throws
 * SERVER_UNREACHABLE if the request fails or exceeds `timeoutMs`.
 */
export async function sendRequest(
  upstream: Upstream,
  request: HttpRequest,
  timeoutMs = defaultTimeoutMs,
): Promise<RequestResult> {
  let response: RequestResult['response']
  const settled = new Deferred()
  const reader = new ReplyReader(maxBytes, {
    onEvent({ data }) {
      response ??= findResponse(data)
      if (response !== undefined) settled.resolve()
    },
  })
  const exchange = upstream.send(request, reader)
  const timeout = (): void =>
    settled.reject(Object.assign(new Error(`no response within ${timeoutMs} ms`), { name: 'TimeoutError' }))
  const timer = setTimeout(timeout, timeoutMs)
  try {
    await Promise.race([exchange.done, settled.promise])
  } catch (error) {
    throw createUnreachableError(upstream.url, error)
  } finally {
    clearTimeout(timer)
    exchange.abort()
  }
  const reply = reader.reply as Reply
  return { reply, response: response ?? findResponse(reply.type === 'json' ? reply.body : undefined) }
}

/** Limited, because other calls wait for the handshake. */
const defaultTimeoutMs = 30_000

const maxBytes = 16 * 1024 * 1024

export function findResponse(body: Buffer | undefined): RequestResult['response'] {
  const value = body && parseJson(body)
  return classifyMessage(value) === 'response' ? (value as JsonObject) : undefined
}
