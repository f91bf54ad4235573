/** Fastify's requests and replies as the web-standard ones that the SDK and the apps speak. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What a web-standard request is made of beside the HTTP request itself. */
export interface WebRequestOptions {
  readonly signal: AbortSignal
  /** The body, where it has not been read yet. */
  readonly body?: Readable
}

/** The request without its body, which has been parsed, or with a body that still streams. */
export function webRequest(request: FastifyRequest, { signal, body }: WebRequestOptions): Request {
  const given = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    for (const one of [value ?? []].flat()) given.append(name, one)
  return new Request(`http://${request.headers.host}${request.url}`, {
    method: request.method,
    headers: given,
    signal,
    ...(body === undefined ? {} : { body: Readable.toWeb(body) as ReadableStream, duplex: 'half' as const }),
  })
}

/** Sends the answer; resolves when its last byte is handed over or the caller has hung up. */
export async function sendWeb(reply: FastifyReply, response: Response): Promise<void> {
  reply.hijack()
  const { raw } = reply
  const given = [...Object.entries(reply.getHeaders()), ...response.headers]
  raw.writeHead(response.status, given.flat() as string[])
  if (response.body === null) {
    raw.end()
    return
  }
  // A stream's first event may be long in coming; the caller must see at once that it is open.
  if (response.headers.get('content-type') !== 'application/json') raw.flushHeaders()
  await write(response.body, raw)
}

async function write(body: ReadableStream<Uint8Array>, raw: ServerResponse): Promise<void> {
  const reader = body.getReader()
  // Whoever fills the stream is told that nobody reads any more; after the last byte this does nothing.
  raw.once('close', () => void reader.cancel().catch(() => {}))
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      if (!raw.write(part.value)) await drained(raw)
    raw.end()
  } catch (error) {
    // The status is long sent: a cut connection is the one way left to say that the answer is not whole.
    raw.destroy()
    throw error
  }
}

/** Resolves when there is room again, or nobody to write to. */
export const drained = (raw: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      raw.off('drain', go).off('close', go)
      resolve()
    }
    raw.on('drain', go).on('close', go)
  })
