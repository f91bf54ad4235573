import { setTimeout as wait } from 'node:timers/promises'
import { brokenStream } from './answer.ts'
import type { Call } from './calls.ts'
import type { Log } from './debug-log.ts'
import type { Deliver } from './deliver.ts'
import { type SessionMark, sessionFields } from './headers.ts'
import type { Posted } from './post.ts'
import { createReplyReader } from './reply.ts'
import { backoff, isPassing, retryAfterMs } from './retry.ts'
import type { Upstream } from './upstream.ts'
import type { Waiting } from './wait.ts'

/** Takes up the stream of an answer that ended without it. Throws SERVER_UNREACHABLE where that is not possible. */
export type Resume = (call: Call, used: SessionMark, posted: Posted) => Promise<void>

interface Parts {
  readonly upstream: Upstream
  readonly deliver: Deliver
  readonly limit: number
  readonly startWaiting: () => Waiting
  readonly random: () => number
  readonly log: Log
}

/** A stream without any hint is taken up almost at once. */
const firstPauseMs = 100

/** The server has not noticed yet that the connection broke, and refuses a second one for the same stream. */
const stillOpen = 409

export function createResume({ upstream, deliver, limit, startWaiting, random, log }: Parts): Resume {
  return async (call, used, { events, broken }) => {
    let { lastEventId, retryMs } = events
    // Only an event id names the place, and the stateless era has no such thing.
    if (lastEventId === '' || call.message.claimed !== undefined) throw brokenStream(upstream.url, broken)
    let waiting = startWaiting()
    for (let attempt = 0; call.open.size > 0; attempt += 1) {
      // Where the server names a time it is kept: servers end streams on purpose to be asked again.
      if (retryMs !== undefined) await wait(retryMs)
      else if (attempt === 0) await wait(backoff(0, random, firstPauseMs))
      log(`taking up the stream of id ${call.message.id} after event ${lastEventId}`)

      const reader = createReplyReader(limit, (event, headers) => deliver.event(event, headers, call))
      const exchange = upstream.resume(
        { accept: 'text/event-stream', ...sessionFields(used), 'last-event-id': lastEventId },
        reader,
      )
      call.abort = exchange.abort
      // A stream that stays open behind the answer is of no more use.
      void call.settled.then(exchange.abort)
      const error = await exchange.done.catch((reason: unknown) => reason)
      const reply = reader.reply()
      if (call.open.size === 0) return
      if (reply?.type === 'events') {
        if (reader.events.lastEventId !== '') waiting = startWaiting()
        lastEventId = reader.events.lastEventId || lastEventId
        retryMs = reader.events.retryMs ?? retryMs
      } else if (reply !== undefined && !isPassing(reply) && reply.status !== stillOpen)
        throw brokenStream(upstream.url, broken)
      const wishMs = reply !== undefined && reply.type !== 'events' ? retryAfterMs(reply) : undefined
      if (!(await waiting.pause(wishMs))) throw brokenStream(upstream.url, error ?? broken)
    }
  }
}
