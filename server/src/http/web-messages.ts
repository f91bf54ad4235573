import type { ServerResponse } from 'node:http'
import { finished, Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Exchange } from './exchange.ts'

interface WebRequestOptions {
  readonly signal: AbortSignal
  readonly body?: Readable | Buffer
}

export const toWebRequest = (request: FastifyRequest, options: WebRequestOptions): Request =>
  new Request(toUrl(request), toInit(request, options))

/** The request that the SDK passes on with each message, without its parsed body. */
export type ExchangeRequest = Request & { readonly exchange: Exchange }

/** A subclass of `Request` would load Node's `fetch`, which takes 3 MB of heap. */
export const toExchangeRequest = (exchange: Exchange): ExchangeRequest =>
  Object.assign(new Request(toUrl(exchange.request), toInit(exchange.request, exchange)), { exchange })

const toUrl = ({ headers, url }: FastifyRequest): string => `http://${headers.host}${url}`

function toInit(request: FastifyRequest, { signal, body }: WebRequestOptions): RequestInit {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    for (const headerValue of [value ?? []].flat()) headers.append(name, headerValue)
  const init = { method: request.method, headers, signal }
  if (body === undefined) return init
  return body instanceof Readable
    ? { ...init, body: toWebStream(body), duplex: 'half' }
    : { ...init, body: new Uint8Array(body) }
}

/** Avoids `Readable.toWeb`, which copies each chunk. */
function toWebStream(body: Readable): ReadableStream<Uint8Array> {
  let isCancelled = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        body.pause()
        body.on('data', (chunk: Buffer<ArrayBuffer>) => {
          if (isCancelled) return
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) body.pause()
        })
        finished(body, (error) => {
          if (error) controller.error(error)
          else if (!isCancelled) controller.close()
        })
      },
      pull: () => void body.resume(),
      cancel(reason) {
        isCancelled = true
        body.destroy(reason instanceof Error ? reason : undefined)
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: body.readableHighWaterMark }),
  )
}

/** Resolves when the response is sent or the client has disconnected. */
export async function sendResponse(reply: FastifyReply, response: Response): Promise<void> {
  const isJson = response.headers.get('content-type') === jsonType
  // The client may read only after it has sent its whole body (see `drainBodies`).
  if (isJson && !reply.request.raw.complete) {
    const body = Buffer.from(await response.arrayBuffer())
    await reply.code(response.status).headers(Object.fromEntries(response.headers)).send(body)
    return
  }
  await send(reply, response, async (raw, chunk) => {
    if (!raw.write(chunk)) await waitForDrain(raw)
  })
}

const jsonType = 'application/json'

export const sendMessages = (reply: FastifyReply, response: Response): Promise<void> =>
  send(reply, response, writeOrDisconnect)

/** A client with more unread bytes is disconnected. */
export const maxUnreadBytes = 16 * 2 ** 20

/** Checks before the write, so that a single message may have any size. */
export function writeOrDisconnect(raw: ServerResponse, chunk: string | Uint8Array): void {
  if (raw.writableLength > maxUnreadBytes) raw.destroy()
  else raw.write(chunk)
}

async function send(
  reply: FastifyReply,
  response: Response,
  write: (raw: ServerResponse, chunk: Uint8Array) => Promise<void> | void,
): Promise<void> {
  reply.hijack()
  const { raw } = reply
  const headers = [...Object.entries(reply.getHeaders()), ...response.headers]
  raw.writeHead(response.status, headers.flat() as string[])
  if (response.body === null) {
    raw.end()
    return
  }
  // Sends the headers now: the first event may take a long time.
  if (response.headers.get('content-type') !== jsonType) raw.flushHeaders()
  const reader = response.body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => {})
  if (raw.destroyed) cancel()
  else raw.once('close', cancel)
  try {
    for (let result = await reader.read(); !result.done; result = await reader.read())
      await write(raw, result.value)
    raw.end()
  } catch (error) {
    // After the status is sent, only a broken connection shows the failure.
    raw.destroy()
    throw error
  }
}

const waitForDrain = (raw: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    if (raw.destroyed) return resolve()
    const settle = (): void => {
      raw.off('drain', settle).off('close', settle)
      resolve()
    }
    raw.on('drain', settle).on('close', settle)
  })
