import { CausewayError } from '@causeway/protocol'
import type { AwaitServer } from './absence.ts'
import { brokenStream, unreachable } from './answer.ts'
import type { Call } from './calls.ts'
import type { Log } from './debug-log.ts'
import type { Deliver } from './deliver.ts'
import type { Fields } from './headers.ts'
import { createReplyReader, type Reply, type ReplyReader } from './reply.ts'
import { isPassing, isStale, mayRepeat, retryAfterMs } from './retry.ts'
import type { Upstream } from './upstream.ts'
import type { Waiting } from './wait.ts'

/** The answer to a POST, and the events of it as far as they came. */
export interface Posted {
  readonly reply: Reply
  readonly events: ReplyReader['events']
  /** Why the stream of events broke off. */
  readonly broken?: unknown
}

/** One POST, repeated while the server is away, as far as the call bears it. Rejects with a CausewayError. */
export type Post = (call: Call, fields: Fields, isSafe: boolean) => Promise<Posted>

interface Parts {
  readonly upstream: Upstream
  readonly deliver: Deliver
  /** Greatest length of one message from the server in bytes. */
  readonly limit: number
  readonly startWaiting: () => Waiting
  readonly awaitServer: AwaitServer
  /** False for a call that waits for a server, but starts none. */
  readonly mayStart: (call: Call) => boolean
  readonly log: Log
}

export function createPost(parts: Parts): Post {
  const { upstream, deliver, limit, startWaiting, awaitServer, mayStart, log } = parts
  const { url } = upstream
  return async (call, fields, isSafe) => {
    const waiting = startWaiting()
    for (let isFirst = true; ; isFirst = false) {
      const reader = createReplyReader(limit, (event, headers) => deliver.event(event, headers, call))
      const exchange = upstream.post(fields, call.bytes, reader)
      call.sent = exchange.sent
      call.abort = exchange.abort
      const error: unknown = await exchange.done.catch((reason: unknown) => reason ?? new Error('failed'))
      const reply = reader.reply()
      const posted = reply && { reply, events: reader.events }

      if (posted !== undefined && error === undefined) {
        const isRepeated =
          isPassing(posted.reply) && isSafe && (await waiting.pause(retryAfterMs(posted.reply)))
        if (!isRepeated) return posted
      } else {
        if (posted?.reply.type === 'events') return { ...posted, broken: error }
        const wasWritten = exchange.wasWritten()
        const wasAnswered = posted !== undefined || call.open.size === 0
        if (!mayRepeat(error, { isSafe, wasWritten, wasAnswered }))
          throw wasWritten
            ? brokenStream(url, error)
            : unreachable(url, error, { waitedMs: waiting.waitedMs() })
        if (!(isFirst && isStale(error))) await awaitServer(waiting, error, wasWritten || !mayStart(call))
      }
      if (call.open.size === 0) throw new CausewayError('CANCELLED', 'nobody waits for the answer any more')
      log(`repeating ${call.message.method}, waited ${waiting.waitedMs()} ms`)
    }
  }
}
