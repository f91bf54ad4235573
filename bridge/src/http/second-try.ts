import type { IncomingHttpHeaders } from 'node:http'
import { type Reply, ReplyReader } from './reply.ts'
import type { Exchange, Reader } from './upstream.ts'

interface Options {
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
  { reader, maxBytes, holds, replace }: Options,
): Exchange {
  let held: ReplyReader | undefined
  let isAborted = false
  const first = send({
    head(status, headers) {
      if (holds(status)) held = new ReplyReader(maxBytes, () => {})
      const current = held ?? reader
      current.head(status, headers)
    },
    data: (chunk) => (held ?? reader).data(chunk),
    bufferedBytes: () => (held ?? reader).bufferedBytes(),
  })
  let current = first
  const replaceReply = async (reply: Reply): Promise<void> => {
    const next = await replace(reply)
    if (next === undefined) return passReply(reader, reply)
    current = next
    if (isAborted) next.abort()
    await next.done
  }
  return {
    done: first.done.then(() => (held?.reply === undefined ? undefined : replaceReply(held.reply))),
    wasWritten: () => first.wasWritten(),
    whenWritten: () => first.whenWritten(),
    abort() {
      isAborted = true
      current.abort()
    },
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

/** Returns a completed exchange with a response of the bridge. */
export function respond(reader: Reader, reply: PassedReply): Exchange {
  passReply(reader, reply)
  return { done: Promise.resolve(), wasWritten: () => false, whenWritten: async () => {}, abort: () => {} }
}
