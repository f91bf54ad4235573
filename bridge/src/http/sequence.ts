import type { IncomingHttpHeaders } from 'node:http'
import { Deferred } from '../lifecycle/deferred.ts'
import { type Reply, ReplyReader } from './reply.ts'
import type { Exchange, Reader } from './upstream.ts'

/** Returns an exchange that consists of several. `run` passes each one to `follow`, which waits for its end. */
export function sequence(run: (follow: (exchange: Exchange) => Promise<void>) => Promise<void>): Exchange {
  const exchanges: Exchange[] = []
  let isAborted = false
  const first = new Deferred<Exchange>()
  const done = run((exchange) => {
    exchanges.push(exchange)
    first.resolve(exchange)
    if (isAborted) exchange.abort()
    return exchange.done
  })
  return {
    done,
    wasWritten: () => exchanges[0]?.wasWritten() ?? false,
    whenWritten: async () => (await first.promise).whenWritten(),
    abort() {
      isAborted = true
      exchanges.at(-1)?.abort()
    },
  }
}

interface SecondTry {
  readonly reader: Reader
  /** Longer bodies are not stored. */
  readonly maxBytes: number
  /** Whether to hold back a response with this status. */
  readonly holds: (status: number) => boolean
  /** Returns the exchange that replaces a held response; `undefined` passes it on. */
  readonly replace: (reply: Reply) => Promise<Exchange | undefined> | Exchange | undefined
}

/** Sends a request that another one replaces if the server rejects it. */
export function sendWithSecondTry(
  send: (reader: Reader) => Exchange,
  { reader, maxBytes, holds, replace }: SecondTry,
): Exchange {
  return sequence(async (follow) => {
    let held = undefined as ReplyReader | undefined
    const gate: Reader = {
      head(status, headers) {
        if (holds(status)) held = new ReplyReader(maxBytes)
        const current = held ?? reader
        current.head(status, headers)
      },
      data: (chunk) => (held ?? reader).data(chunk),
    }
    await follow(send(gate))
    const reply = held?.reply
    const next = reply && (await replace(reply))
    if (next !== undefined) await follow(next)
    else if (reply !== undefined) passReply(reader, reply)
  })
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

/** Returns a completed exchange with a response of the bridge. */
export function respond(reader: Reader, reply: PassedReply): Exchange {
  passReply(reader, reply)
  return { done: Promise.resolve(), wasWritten: () => false, whenWritten: async () => {}, abort: () => {} }
}
