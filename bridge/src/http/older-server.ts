import { setTimeout as sleep } from 'node:timers/promises'
import { asObject, type Id, isId, headers as names } from '@causeway/protocol'
import type { Log } from '../lifecycle/debug-log.ts'
import { Deferred } from '../lifecycle/deferred.ts'
import { parseJson } from '../stdio/json.ts'
import { passReply, respond, sendWithFallback } from './fallback.ts'
import { eventStreamFields, type Fields } from './headers.ts'
import { type Reply, ReplyReader } from './reply.ts'
import { findResponse } from './send-request.ts'
import { EventParser, type ServerEvent } from './sse.ts'
import type { Exchange, HttpRequest, Reader, Upstream } from './upstream.ts'

/**
 * Statuses with which a server of the 2024-11-05 transport may reject a POST
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility).
 */
const rejectionStatuses: ReadonlySet<number> = new Set([400, 404, 405])

/**
 * Supports servers with only the HTTP+SSE transport of 2024-11-05: if `initialize` is rejected, opens their
 * event stream.
 */
export function supportOlderServers(upstream: Upstream, log: Log): Upstream {
  const server = new OlderServer(upstream, log)
  return { ...upstream, send: (request, reader) => server.send(request, reader) }
}

class OlderServer {
  readonly #upstream: Upstream
  readonly #log: Log
  #state: 'unknown' | 'current' | 'lost' | OlderStream = 'unknown'

  constructor(upstream: Upstream, log: Log) {
    this.#upstream = upstream
    this.#log = log
  }

  send(request: HttpRequest, reader: Reader): Exchange {
    const { method, body } = request
    if (this.#state instanceof OlderStream) {
      if (body !== undefined) return this.#state.post(request.fields, body, reader)
      if (method === 'GET') return this.#state.listen(reader)
      this.#state.close()
      return respond(reader, { status: 200, headers: {} })
    }
    if (this.#state !== 'current') {
      if (body !== undefined && isInitialize(body)) return this.#probe(request, body, reader)
      // The caller opens a new session on this status.
      if (this.#state === 'lost' && method !== 'DELETE') return respond(reader, { status: 404, headers: {} })
    }
    return this.#upstream.send(request, reader)
  }

  #probe(request: HttpRequest, body: Buffer, reader: Reader): Exchange {
    return sendWithFallback((gatedReader) => this.#upstream.send(request, gatedReader), {
      reader,
      maxBytes: this.#upstream.maxMessageBytes,
      shouldHold: (status) => {
        const isRejected = rejectionStatuses.has(status)
        if (!isRejected) this.#state = 'current'
        return isRejected
      },
      replace: async (reply) => {
        // A JSON-RPC error means that the server supports the current transport, unless the status is 405.
        const isJsonRpcResponse = reply.status !== 405 && findResponse(reply.body) !== undefined
        const stream = isJsonRpcResponse ? undefined : await this.#openStream()
        return stream?.post(request.fields, body, reader)
      },
    })
  }

  async #openStream(): Promise<OlderStream | undefined> {
    const stream = await OlderStream.open(this.#upstream)
    if (stream === undefined) return undefined
    this.#log('the server implements the HTTP+SSE transport of 2024-11-05')
    if (this.#state instanceof OlderStream) this.#state.close()
    this.#state = stream
    void stream.ended.then(() => {
      if (this.#state === stream) this.#state = 'lost'
    })
    return stream
  }
}

const isInitialize = (body: Buffer): boolean =>
  body.includes('"initialize"') && (parseJson(body) as { method?: unknown } | null)?.method === 'initialize'

const maxBuffered = 1000

/** Servers of this transport send the endpoint first, without delay. */
const endpointTimeoutMs = 5000

/** A 2024-11-05 session: an event stream carries every response and names the path for POST. */
class OlderStream {
  readonly ended: Promise<unknown>
  readonly #upstream: Upstream
  readonly #id = crypto.randomUUID()
  readonly #exchange: Exchange
  readonly #events: EventParser
  readonly #pendingResponses = new Map<Id, Deferred<Buffer>>()
  readonly #bufferedMessages: Buffer[] = []
  readonly #endpoint = new Deferred<string | undefined>()
  #path = ''
  #listener: Reader | undefined

  private constructor(upstream: Upstream) {
    this.#upstream = upstream
    this.#events = new EventParser(upstream.maxMessageBytes)
    this.#exchange = upstream.send(
      { method: 'GET', fields: eventStreamFields },
      {
        head: (status, { 'content-type': type = '' }) => {
          if (status !== 200 || !type.startsWith('text/event-stream')) this.#endpoint.resolve(undefined)
        },
        data: (chunk) => {
          for (const event of this.#events.push(chunk)) this.#receive(event)
          return this.#events.bufferedBytes
        },
      },
    )
    this.ended = this.#exchange.done.then(
      () => new Error('the server ended its event stream'),
      (error: unknown) => error,
    )
    void this.ended.then((error) => {
      this.#endpoint.resolve(undefined)
      for (const pending of this.#pendingResponses.values()) pending.reject(error)
    })
  }

  /** Returns `undefined` if the server does not implement this transport. */
  static async open(upstream: Upstream): Promise<OlderStream | undefined> {
    const stream = new OlderStream(upstream)
    const timeout = sleep(endpointTimeoutMs, undefined, { ref: false })
    stream.#path = (await Promise.race([stream.#endpoint.promise, timeout])) ?? ''
    if (stream.#path !== '') return stream
    stream.close()
    return undefined
  }

  post(fields: Fields, body: Buffer, reader: Reader): Exchange {
    const ids = [parseJson(body)].flat().flatMap((message) => findId(message, 'string') ?? [])
    const responses = Promise.all(ids.map((id) => this.#waitFor(id)))
    responses.catch(() => {})
    const acceptanceReader = new ReplyReader(this.#upstream.maxMessageBytes)
    const { [names.sessionId]: _sessionId, ...ownFields } = fields
    const request = { method: 'POST', fields: ownFields, body, path: this.#path } as const
    const exchange = this.#upstream.send(request, acceptanceReader)
    const done = exchange.done.then(async () => {
      const reply = acceptanceReader.reply as Reply
      if (reply.status >= 300 || ids.length === 0) return passReply(reader, reply)
      const [first = Buffer.alloc(0), ...otherResponses] = await responses
      const json =
        otherResponses.length === 0 ? first : Buffer.from(`[${[first, ...otherResponses].join(',')}]`)
      const headers = { 'content-type': 'application/json', [names.sessionId]: this.#id }
      passReply(reader, { status: 200, headers, body: json })
    })
    return {
      wasWritten: () => exchange.wasWritten(),
      whenWritten: () => exchange.whenWritten(),
      done: done.finally(() => {
        for (const id of ids) this.#pendingResponses.delete(id)
      }),
      abort: () => {
        for (const id of ids) this.#pendingResponses.get(id)?.reject(new Error('aborted by the bridge'))
        exchange.abort()
      },
    }
  }

  listen(reader: Reader): Exchange {
    this.#listener = reader
    reader.head(200, { 'content-type': 'text/event-stream' })
    for (const data of this.#bufferedMessages.splice(0)) reader.data(formatEvent(data))
    const listenerRemoved = new Deferred()
    return {
      done: Promise.race([listenerRemoved.promise, this.ended.then(() => {})]),
      wasWritten: () => true,
      whenWritten: async () => {},
      abort: () => {
        if (this.#listener === reader) this.#listener = undefined
        listenerRemoved.resolve()
      },
    }
  }

  close(): void {
    this.#exchange.abort()
  }

  #receive({ type, data }: ServerEvent): void {
    if (data === undefined) return
    const id = findId(parseJson(data), 'undefined')
    const pending = id === undefined ? undefined : this.#pendingResponses.get(id)
    if (type === 'endpoint') this.#endpoint.resolve(resolvePath(data.toString(), this.#upstream.url))
    else if (pending !== undefined) pending.resolve(data)
    else if (this.#listener !== undefined) this.#listener.data(formatEvent(data))
    else if (this.#bufferedMessages.length < maxBuffered) this.#bufferedMessages.push(data)
  }

  #waitFor(id: Id): Promise<Buffer> {
    const response = new Deferred<Buffer>()
    this.#pendingResponses.set(id, response)
    return response.promise
  }
}

/** Returns path and query; `undefined` for another origin, which must not receive messages. */
function resolvePath(text: string, url: URL): string | undefined {
  // A socket URL has no comparable origin.
  const baseUrl = url.protocol === 'unix:' ? 'http://localhost/' : url.href
  const target = URL.parse(text.trim(), baseUrl)
  return target?.origin === new URL(baseUrl).origin ? target.pathname + target.search : undefined
}

function findId(message: unknown, methodType: 'string' | 'undefined'): Id | undefined {
  const { id, method } = asObject(message)
  return isId(id) && typeof method === methodType ? id : undefined
}

const formatEvent = (data: Buffer): Buffer =>
  Buffer.from(`data: ${data.toString().replaceAll('\n', '\ndata: ')}\n\n`)
