import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from './debug-log.ts'
import { sessionFields } from './headers.ts'
import { createReplyReader } from './reply.ts'
import { backoff, isBusy } from './retry.ts'
import type { Session } from './session.ts'
import type { ServerEvent } from './sse.ts'
import type { Exchange, Upstream } from './upstream.ts'

/** The GET stream of a session, by which the server speaks unasked. */
export interface Listener {
  /** Listens for the current session; an earlier stream is given up. */
  start(): void
  stop(): void
}

interface Parts {
  readonly upstream: Upstream
  readonly session: () => Session
  readonly limit: number
  readonly onEvent: (event: ServerEvent) => void
  /** Tells the client what the session has noted for it. */
  readonly announce: () => void
  /** Resolves after this time, earlier when the server has answered a call. */
  readonly awaitAnswer: (ms: number) => Promise<void>
  readonly random: () => number
  readonly log: Log
}

export function createListener(parts: Parts): Listener {
  let current: AbortController | undefined
  const stop = (): void => current?.abort()
  return {
    start() {
      stop()
      current = new AbortController()
      if (parts.session().mark().id !== undefined) void listen(parts, current.signal)
    },
    stop,
  }
}

/** Connects again and again until stopped, or until the server says that it offers no stream. */
async function listen(parts: Parts, signal: AbortSignal): Promise<void> {
  const { upstream, session, limit, log } = parts
  let lastEventId = ''
  let attempt = 0
  let retryMs: number | undefined
  let mayHaveMissed = false
  while (!signal.aborted) {
    const used = session().mark()
    const reader = createReplyReader(limit, (event) => {
      if (!signal.aborted) parts.onEvent(event)
    })
    const exchange = upstream.listen(
      {
        accept: 'text/event-stream',
        ...sessionFields(used),
        ...(lastEventId !== '' && { 'last-event-id': lastEventId }),
      },
      {
        ...reader,
        head(status, headers) {
          reader.head(status, headers)
          if (!mayHaveMissed || status !== 200) return
          mayHaveMissed = false
          session().noteReturn()
          parts.announce()
        },
      },
    )
    if (!(await finished(exchange, signal))) mayHaveMissed = true
    if (signal.aborted) return

    const reply = reader.reply()
    if (reply !== undefined) {
      if (session().isDead(reply, used)) {
        // The renewal starts a stream of its own; only where it fails does this one go on.
        const renewed = await session()
          .renew(used)
          .then(
            () => true,
            (error: unknown) => void log(`no new session: ${error}`),
          )
        if (renewed) return parts.announce()
      } else if (reply.type !== 'events' && !isBusy(reply)) {
        log(`no GET stream: HTTP ${reply.status}`)
        if (lastEventId !== '') {
          // The server may no longer have that event: what came after it is lost, what comes from now on is not.
          lastEventId = ''
          mayHaveMissed = true
          continue
        }
        if (reply.status < 500) return
      }
    }
    lastEventId = reader.events.lastEventId || lastEventId
    retryMs = reader.events.retryMs ?? retryMs
    attempt = reply?.type === 'events' ? 0 : attempt + 1
    const delayMs = backoff(attempt, parts.random, retryMs)
    // Of a server that is away, the first answer to a call tells that it is back.
    if (reply === undefined) await parts.awaitAnswer(delayMs)
    else await wait(delayMs, undefined, { signal, ref: false }).catch(() => {})
  }
}

/** Waits for the end of the stream; false where it broke. Either way the next step is to connect again. */
async function finished(exchange: Exchange, signal: AbortSignal): Promise<boolean> {
  const abort = (): void => exchange.abort()
  signal.addEventListener('abort', abort)
  const hasEnded = await exchange.done.then(
    () => true,
    () => false,
  )
  signal.removeEventListener('abort', abort)
  return hasEnded
}
