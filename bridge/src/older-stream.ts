import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Id, headers as names } from '@causeway/protocol'
import type { Fields } from './headers.ts'
import { parsed } from './parsed.ts'
import { createReplyReader } from './reply.ts'
import { EventParser, type ServerEvent } from './sse.ts'
import type { Exchange, Reader, Upstream } from './upstream.ts'

/** A session with a server of 2024-11-05: one event stream brings every answer, messages go to a path that it names. */
export interface OlderStream {
  /** As `Upstream.post`: the answer that comes by the stream becomes that of the POST. */
  post(fields: Fields, body: Buffer, reader: Reader): Exchange
  /** As `Upstream.listen`: what the server says unasked. */
  listen(reader: Reader): Exchange
  /** Resolves when the stream is gone. */
  readonly ended: Promise<void>
  close(): void
}

interface Waiting {
  resolve(answer: Buffer): void
  reject(error: unknown): void
}

/** Unasked messages that wait for a listener; the client hears them once it has said `initialized`. */
const maxUnheard = 1000

/** A server that speaks this transport names its path at once, ms. */
const endpointMs = 5000

/** Connects; undefined where the server does not speak that transport. `limit` is the greatest message in bytes. */
export async function openOlderStream(upstream: Upstream, limit: number): Promise<OlderStream | undefined> {
  const waiting = new Map<string, Waiting>()
  const unheard: Buffer[] = []
  const events = new EventParser(limit)
  const id = randomUUID()
  let listener: Reader | undefined
  let named: (path: string | undefined) => void = () => {}
  const endpoint = new Promise<string | undefined>((resolve) => {
    named = resolve
  })

  const unasked = (data: Buffer): void => {
    if (listener !== undefined) listener.data(asEvent(data))
    else if (unheard.length < maxUnheard) unheard.push(data)
  }
  const receive = ({ type, data }: ServerEvent): void => {
    if (data === undefined) return
    const key = answeredId(parsed(data)) ?? ''
    const own = waiting.get(key)
    waiting.delete(key)
    if (type === 'endpoint') named(pathOf(data.toString(), upstream.url))
    else if (own === undefined) unasked(data)
    else own.resolve(data)
  }
  const stream = upstream.listen(
    { accept: 'text/event-stream' },
    {
      head: (status, { 'content-type': type = '' }) => {
        if (status !== 200 || !type.startsWith('text/event-stream')) named(undefined)
      },
      data: (chunk) => events.push(chunk).forEach(receive),
      kept: () => events.kept,
    },
  )
  const ended = stream.done.then(
    () => new Error('the server ended its event stream'),
    (error: unknown) => error,
  )
  const timer = setTimeout(() => named(undefined), endpointMs).unref()
  void ended.then((error) => {
    named(undefined)
    for (const one of waiting.values()) one.reject(error)
  })
  const path = await endpoint
  clearTimeout(timer)
  if (path === undefined) {
    stream.abort()
    return undefined
  }

  const answerOf = (key: string): Promise<Buffer> =>
    new Promise((resolve, reject) => waiting.set(key, { resolve, reject }))

  return {
    post(fields, body, reader) {
      const keys = [parsed(body)].flat().flatMap((message) => requestId(message) ?? [])
      const answers = Promise.all(keys.map(answerOf))
      // Whoever posts learns of it by `done`, which may already have failed by then.
      answers.catch(() => {})
      const taken = createReplyReader(limit, () => {})
      const { [names.sessionId]: _ours, ...own } = fields
      const exchange = upstream.post(own, body, taken, path)
      const done = exchange.done.then(async () => {
        const { status = 0, headers = {}, body: text } = taken.reply() ?? {}
        if (status >= 300 || keys.length === 0) return handOn(reader, status, headers, text)
        const [first = Buffer.alloc(0), ...others] = await answers
        const json = others.length === 0 ? first : Buffer.from(`[${[first, ...others].join(',')}]`)
        handOn(reader, 200, { 'content-type': 'application/json', [names.sessionId]: id }, json)
      })
      const forget = (): void => keys.forEach((key) => void waiting.delete(key))
      return {
        ...exchange,
        done: done.finally(forget),
        abort() {
          for (const key of keys) waiting.get(key)?.reject(new Error('aborted by the bridge'))
          exchange.abort()
        },
      }
    },
    listen(reader) {
      listener = reader
      reader.head(200, { 'content-type': 'text/event-stream' })
      for (const data of unheard.splice(0)) reader.data(asEvent(data))
      let leave = (): void => {}
      const left = new Promise<void>((resolve) => {
        leave = resolve
      })
      return {
        sent: Promise.resolve(),
        done: Promise.race([left, ended.then(() => {})]),
        wasWritten: () => true,
        abort() {
          if (listener === reader) listener = undefined
          leave()
        },
      }
    },
    ended: ended.then(() => {}),
    close: () => stream.abort(),
  }
}

/** Gives a complete answer to a reader. */
export function handOn(reader: Reader, status: number, headers: IncomingHttpHeaders, body?: Buffer): void {
  reader.head(status, headers)
  if (body !== undefined && body.length > 0) reader.data(body)
}

/** The path of an `endpoint` event; undefined for another origin, to which no message may be led away. */
function pathOf(text: string, url: URL): string | undefined {
  // A socket has no origin of its own: what counts is the path.
  const base = url.protocol === 'unix:' ? 'http://localhost/' : url.href
  const target = URL.parse(text.trim(), base)
  return target?.origin === new URL(base).origin ? target.pathname + target.search : undefined
}

const requestId = (message: unknown): string | undefined => {
  const { id, method } = (message ?? {}) as { id?: Id; method?: unknown }
  return id !== undefined && typeof method === 'string' ? JSON.stringify(id) : undefined
}

const answeredId = (message: unknown): string | undefined => {
  const { id, method } = (message ?? {}) as { id?: Id; method?: unknown }
  return id !== undefined && method === undefined ? JSON.stringify(id) : undefined
}

const asEvent = (data: Buffer): Buffer =>
  Buffer.from(`data: ${data.toString().replaceAll('\n', '\ndata: ')}\n\n`)
