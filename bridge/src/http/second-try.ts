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

interface SecondTry {
  readonly reader: Reader
  /** Longer bodies of held responses are discarded. */
  readonly maxBytes: number
  /** Whether to hold back a response with this status. */
  readonly holds: (status: number) => boolean
  /** Returns the exchange that replaces a held response, or `undefined` to pass the response on. */
  readonly replace: (reply: Reply) => Promise<Exchange | undefined>
}

/** Sends a request. If the server rejects it, `replace` may send another one. */
export function sendWithSecondTry(
  send: (reader: Reader) => Exchange,
  { reader, maxBytes, holds, replace }: SecondTry,
): Exchange {
  let held: ReplyReader | undefined
  let second: Exchange | undefined
  const first = send({
    head(status, headers) {
      if (holds(status)) held = new ReplyReader(maxBytes)
      const receiver = held ?? reader
      receiver.head(status, headers)
    },
    data: (chunk) => (held ?? reader).data(chunk),
  })
  const replaceHeld = async (reply: Reply): Promise<Exchange> =>
    (await replace(reply)) ?? respond(reader, reply)
  return {
    done: first.done.then(() => {
      if (held === undefined) return undefined
      second = startLater(replaceHeld(held.reply as Reply))
      return second.done
    }),
    wasWritten: () => first.wasWritten(),
    whenWritten: () => first.whenWritten(),
    abort: () => (second ?? first).abort(),
  }
}

interface PassedReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body?: Buffer | undefined
}

export function passReply(reader: Reader, { status, headers, body }: PassedReply): void {
  reader.head(status, headers)
  if (body !== undefined && body.length > 0) reader.data(body)
}

export function respond(reader: Reader, reply: PassedReply): Exchange {
  passReply(reader, reply)
  return { done: Promise.resolve(), wasWritten: () => false, whenWritten: async () => {}, abort: () => {} }
}
