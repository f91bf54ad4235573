import type { IncomingHttpHeaders } from 'node:http'
import { type Reply, ReplyReader } from './reply.ts'
import type { Exchange, Reader } from './upstream.ts'

/** Returns an exchange that forwards to `starting` as soon as it resolves. */
export function startLater(starting: Promise<Exchange>): Exchange {
  let started: Exchange | undefined
  let isAborted = false
  return {
    done: starting.then((exchange) => {
      started = exchange
      if (isAborted) exchange.abort()
      return exchange.done
    }),
    wasWritten: () => started?.wasWritten() ?? false,
    whenWritten: async () => (await starting).whenWritten(),
    abort() {
      isAborted = true
      started?.abort()
    },
  }
}

interface FallbackOptions {
  readonly reader: Reader
  /** Longer bodies of held responses are discarded. */
  readonly maxBytes: number
  /** Whether to hold back a response with this status. */
  readonly shouldHold: (status: number) => boolean
  /** Returns the exchange that replaces a held response, or `undefined` to pass the response on. */
  readonly replace: (reply: Reply) => Promise<Exchange | undefined>
}

/** Sends a request. If the server rejects it, `replace` may send another one. */
export function sendWithFallback(
  send: (reader: Reader) => Exchange,
  { reader, maxBytes, shouldHold, replace }: FallbackOptions,
): Exchange {
  let heldReply: ReplyReader | undefined
  let replacement: Exchange | undefined
  const firstExchange = send({
    head(status, headers) {
      if (shouldHold(status)) heldReply = new ReplyReader(maxBytes)
      const receiver = heldReply ?? reader
      receiver.head(status, headers)
    },
    data: (chunk) => (heldReply ?? reader).data(chunk),
  })
  const replaceReply = async (reply: Reply): Promise<Exchange> =>
    (await replace(reply)) ?? respond(reader, reply)
  return {
    done: firstExchange.done.then(() => {
      if (heldReply === undefined) return undefined
      replacement = startLater(replaceReply(heldReply.reply as Reply))
      return replacement.done
    }),
    wasWritten: () => firstExchange.wasWritten(),
    whenWritten: () => firstExchange.whenWritten(),
    abort: () => (replacement ?? firstExchange).abort(),
  }
}

interface ReplyContent {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body?: Buffer | undefined
}

export function passReply(reader: Reader, { status, headers, body }: ReplyContent): void {
  reader.head(status, headers)
  if (body !== undefined && body.length > 0) reader.data(body)
}

export function respond(reader: Reader, reply: ReplyContent): Exchange {
  passReply(reader, reply)
  return { done: Promise.resolve(), wasWritten: () => false, whenWritten: async () => {}, abort: () => {} }
}
