/** Fastify's requests and replies as the web-standard ones that the SDK and the apps speak. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What a web-standard request is made of beside the HTTP request itself. */
export interface WebRequestOptions {
  readonly signal: AbortSignal
  /** Headers that replace those of the caller. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body, where it has not been read yet. */
  readonly body?: Readable
}

/** The request without its body, which has been parsed, or with a body that still streams. */
export function webRequest(
  request: FastifyRequest,
  { signal, headers = {}, body }: WebRequestOptions,
): Request {
  const given = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    for (const one of [value ?? []].flat()) given.append(name, one)
  for (const [name, value] of Object.entries(headers)) given.set(name, value)
  return new Request(`http://${request.headers.host}${request.url}`, {
    method: request.method,
    headers: given,
    signal,
    ...(body === undefined ? {} : { body: Readable.toWeb(body) as ReadableStream, duplex: 'half' as const }),
  })
}

/** Sends the answer; resolves when its last byte is written or the caller has hung up. */
export async function sendWeb(reply: FastifyReply, response: Response): Promise<void> {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(
    response.status,
    [...Object.entries(reply.getHeaders()), ...response.headers].flat() as string[],
  )
  if (response.body === null) {
    raw.end()
    return
  }
  // A stream's first event may be long in coming; the caller must see at once that it is open.
  if (response.headers.get('content-type') !== 'application/json') raw.flushHeaders()
  try {
    await pipeline(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]), raw)
  } catch (error) {
    if (!raw.destroyed || (error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}
