/** Fastify's requests and replies as the web-standard ones that the SDK and the apps speak. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What a web-standard request is made of beside the HTTP request itself. */
export interface WebRequestOptions {
  readonly signal: AbortSignal
  /** The body, where it has not been parsed: its bytes, or the stream of them. */
  readonly body?: Readable | Buffer
}

/** The request without its body, which has been parsed, or with the body that is given. */
export function webRequest(request: FastifyRequest, { signal, body }: WebRequestOptions): Request {
  const given = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    for (const one of [value ?? []].flat()) given.append(name, one)
  return new Request(`http://${request.headers.host}${request.url}`, {
    method: request.method,
    headers: given,
    signal,
    ...(body === undefined ? {} : bodyInit(body)),
  })
}

const bodyInit = (body: Readable | Buffer): RequestInit =>
  body instanceof Readable
    ? { body: Readable.toWeb(body) as ReadableStream, duplex: 'half' }
    : { body: new Uint8Array(body) }

/** Sends the answer as fast as the caller reads; resolves when its last byte is handed over or the caller has hung up. */
export const sendWeb = (reply: FastifyReply, response: Response): Promise<void> =>
  send(reply, response, async (raw, part) => {
    if (!raw.write(part)) await drained(raw)
  })

/**
 * Sends an answer or a stream of messages that is filled however slowly the caller reads, as those of the SDK are; one
 * that does not read is cut off before what waits for it fills the memory.
 */
export const sendMessages = (reply: FastifyReply, response: Response): Promise<void> =>
  send(reply, response, writeUnlessFull)

/** Bytes that may wait for a client that does not read, before a further message cuts its connection. */
export const mostUnread = 16 * 2 ** 20

/** Writes, or ends the connection where too much waits already. A single message may be of any size. */
export function writeUnlessFull(raw: ServerResponse, part: string | Uint8Array): void {
  if (raw.writableLength > mostUnread) raw.destroy()
  else raw.write(part)
}

async function send(
  reply: FastifyReply,
  response: Response,
  write: (raw: ServerResponse, part: Uint8Array) => Promise<void> | void,
): Promise<void> {
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
  const reader = response.body.getReader()
  // Whoever fills the stream is told that nobody reads any more; after the last byte this does nothing.
  const stop = (): void => void reader.cancel().catch(() => {})
  if (raw.destroyed) stop()
  else raw.once('close', stop)
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) await write(raw, part.value)
    raw.end()
  } catch (error) {
    // The status is long sent: a cut connection is the one way left to say that the answer is not whole.
    raw.destroy()
    throw error
  }
}

/** Resolves when there is room again, or nobody to write to. */
const drained = (raw: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    if (raw.destroyed) return resolve()
    const go = (): void => {
      raw.off('drain', go).off('close', go)
      resolve()
    }
    raw.on('drain', go).on('close', go)
  })
