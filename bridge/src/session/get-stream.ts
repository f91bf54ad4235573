import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../calls/call-exchange.ts'
import { computeBackoff, isBusy } from '../calls/retry.ts'
import { createSessionFields, eventStreamFields, type SessionKey } from '../http/headers.ts'
import { type Reply, ReplyReader } from '../http/reply.ts'

interface Options extends Link {
  readonly key: SessionKey
  /** Called when the stream is open again and notifications may have been missed. */
  readonly onMissed: () => void
  readonly isLost: (reply: Reply) => boolean
  /** Opens a new session, which has its own stream. */
  readonly renew: () => Promise<void>
}

/** Reads a session's GET stream. Reconnects until the stream is closed or rejected. */
export class GetStream {
  readonly #options: Options
  readonly #controller = new AbortController()
  #lastEventId = ''
  #hasMissed = false

  constructor(options: Options) {
    this.#options = options
    void this.#run()
  }

  close(): void {
    this.#controller.abort()
  }

  async #run(): Promise<void> {
    const { monitor, random } = this.#options.retry
    const { signal } = this.#controller
    let retryMs: number | undefined
    for (let attempt = 0; !signal.aborted; ) {
      const reader = await this.#connect()
      const { reply, events } = reader
      if (signal.aborted) return
      if (reply !== undefined && reply.type !== 'events') {
        const next = await this.#handleRejection(reply)
        if (next === 'stop') return
        if (next === 'reconnect') continue
      }
      this.#lastEventId = events.lastEventId || this.#lastEventId
      retryMs = events.retryMs ?? retryMs
      attempt = reply?.type === 'events' ? 0 : attempt + 1
      const delayMs = computeBackoff(attempt, random, retryMs)
      // The first response to a call shows that the server is back.
      if (reply === undefined) await monitor.waitForResponse(delayMs)
      else await sleep(delayMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  async #connect(): Promise<ReplyReader> {
    const { upstream, delivery, key, onMissed } = this.#options
    const { signal } = this.#controller
    const reader = new ReplyReader(upstream.maxMessageBytes, {
      onEvent: (event) => {
        if (!signal.aborted) delivery.deliverEvent(event)
      },
      onHead: (status) => {
        if (!this.#hasMissed || status !== 200) return
        this.#hasMissed = false
        onMissed()
      },
    })
    const lastEventId = this.#lastEventId
    const fields = {
      ...eventStreamFields,
      ...createSessionFields(key),
      ...(lastEventId !== '' && { 'last-event-id': lastEventId }),
    }
    const request = { method: 'GET', fields } as const
    const exchange = upstream.send(request, reader)
    signal.onabort = () => exchange.abort()
    const isClean = await exchange.done.then(
      () => true,
      () => false,
    )
    if (!isClean) this.#hasMissed = true
    return reader
  }

  async #handleRejection(reply: Reply): Promise<'stop' | 'reconnect' | 'wait'> {
    const { log, isLost, renew } = this.#options
    if (isLost(reply))
      return renew().then(
        () => 'stop',
        (error: unknown) => {
          log(`no new session: ${error}`)
          return 'wait'
        },
      )
    if (isBusy(reply)) return 'wait'
    log(`no GET stream: HTTP ${reply.status}`)
    if (this.#lastEventId !== '') {
      // The server may have discarded the last event, so the stream starts without its id.
      this.#lastEventId = ''
      this.#hasMissed = true
      return 'reconnect'
    }
    return reply.status < 500 ? 'stop' : 'wait'
  }
}
