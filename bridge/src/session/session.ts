import type { IncomingHttpHeaders } from 'node:http'
import { asObject, CausewayError } from '@causeway/protocol'
import { toStatusError } from '../calls/answer.ts'
import type { Link } from '../calls/call-exchange.ts'
import { canResend, getRetryAfterMs, isStale, isTemporary } from '../calls/retry.ts'
import { RetryBudget } from '../calls/retry-budget.ts'
import {
  createMessageFields,
  createSessionFields,
  noSession,
  readSessionKey,
  type SessionKey,
} from '../http/headers.ts'
import { type Reply, ReplyReader } from '../http/reply.ts'
import { findResponse, type RequestResult, sendRequest } from '../http/send-request.ts'
import { type ClientMessage, createListChangedLine, findChangeableLists } from '../stdio/message.ts'
import { GetStream } from './get-stream.ts'

const maxRenewalsPerMinute = 5

interface Options extends Link {
  /** Called after `notifications/initialized` and each renewal. */
  readonly onReady: () => void
}

/** A legacy client's session. The client opens it; the bridge renews it if the server loses it. */
export class Session {
  readonly #options: Options
  #key = noSession
  #initialize: ClientMessage | undefined
  #changeableLists: readonly string[] = []
  #stream: GetStream | undefined
  #renewal: Promise<void> | undefined
  #renewalTimes: number[] = []
  /** Messages to repeat in a new session, after `initialize`. */
  readonly #replayedMessages = new Map<string, ClientMessage>()

  constructor(options: Options) {
    this.#options = options
  }

  get key(): SessionKey {
    return this.#key
  }

  adopt(initialize: ClientMessage, headers: IncomingHttpHeaders, result: unknown): void {
    const { delivery, log } = this.#options
    const previousKey = this.#key
    this.#replayedMessages.clear()
    this.#enter(initialize, headers, result)
    if (previousKey.id === undefined || previousKey.id === this.#key.id) return
    // A client that initializes again expects no notifications about its previous session.
    this.#stream?.close()
    delivery.serverRequests.cancelAll()
    void this.#delete(previousKey).catch((error: unknown) =>
      log(`the previous session was not deleted: ${error}`),
    )
  }

  /** Stores messages that a new session must receive. Starts the session on `notifications/initialized`. */
  remember(message: ClientMessage): void {
    const { method, params } = message
    if (method === 'notifications/initialized') {
      this.#replayedMessages.set('initialized', message)
      this.#start()
    } else if (method === 'logging/setLevel') this.#replayedMessages.set('level', message)
    else if (method === 'resources/subscribe') this.#replayedMessages.set(`resource ${params.uri}`, message)
    else if (method === 'resources/unsubscribe') this.#replayedMessages.delete(`resource ${params.uri}`)
  }

  /** Whether this response means that the session `key` no longer exists. */
  isLost({ status, body }: Reply, key: SessionKey): boolean {
    if (key.id === undefined || (status !== 404 && status !== 400)) return false
    const error = findResponse(body)?.error as { code?: unknown; message?: unknown } | undefined
    if (status === 404) return error?.code !== -32601
    return error?.code === -32001 || /\bsession\b/i.test(String(error?.message))
  }

  /**
   * Opens a new session if `lostKey` is the current one. Retries while the server is unavailable. Concurrent
   * calls share an attempt.
   */
  async renew(lostKey: SessionKey): Promise<void> {
    if (this.#key.id !== lostKey.id || this.#initialize === undefined) return
    this.#renewal ??= this.#reopen(this.#initialize).finally(() => {
      this.#renewal = undefined
    })
    await this.#renewal
  }

  async close(): Promise<void> {
    this.#stream?.close()
    await this.#delete(this.#key)
  }

  async #reopen(initialize: ClientMessage): Promise<void> {
    const { upstream, retry, delivery } = this.#options
    const { now } = retry
    this.#renewalTimes = this.#renewalTimes.filter((time) => now() - time < 60_000)
    if (this.#renewalTimes.length >= maxRenewalsPerMinute)
      throw new CausewayError(
        'SESSION_NOT_FOUND',
        `the server ended ${maxRenewalsPerMinute} sessions within a minute`,
        { remedy: 'see the log of the server; call again in a minute' },
      )
    const budget = new RetryBudget(retry)
    const { reply, response } = await this.#post(initialize, this.#key, budget)
    if (response === undefined) throw toStatusError(upstream.url, reply)
    if (!('result' in response))
      throw new CausewayError('SESSION_NOT_FOUND', 'the server refused to open a new session', {
        data: { error: response.error },
      })
    this.#renewalTimes.push(now())
    // Calls use the new session only after it has received the stored messages.
    const key = readSessionKey(reply.headers, response.result)
    for (const message of this.#replayedMessages.values()) await this.#post(message, key, budget)
    const listsBefore = this.#changeableLists
    this.#enter(initialize, reply.headers, response.result)
    const cancellations = delivery.serverRequests.cancelAll()
    if (this.#replayedMessages.has('initialized')) this.#start()
    for (const notification of cancellations) delivery.write(notification)
    this.#announceChanges([...new Set([...listsBefore, ...this.#changeableLists])])
  }

  /** Posts a handshake message. These messages are safe to retry. */
  async #post(message: ClientMessage, key: SessionKey, budget: RetryBudget): Promise<RequestResult> {
    for (let isFirst = true; ; isFirst = false)
      try {
        const request = {
          method: 'POST',
          fields: createMessageFields(message, key),
          body: message.bytes,
        } as const
        const renewalResult = await sendRequest(this.#options.upstream, request)
        if (!isTemporary(renewalResult.reply) || !(await budget.pause(getRetryAfterMs(renewalResult.reply))))
          return renewalResult
      } catch (error) {
        const { cause } = error as CausewayError // `sendRequest` throws nothing else
        if (!canResend(cause, { isSafe: true, wasWritten: true, hasResponse: false })) throw error
        if (!(isFirst && isStale(cause))) await budget.waitForServer(cause, { canStart: !isStale(cause) })
      }
  }

  #enter(initialize: ClientMessage, headers: IncomingHttpHeaders, result: unknown): void {
    this.#initialize = initialize
    this.#key = readSessionKey(headers, result)
    this.#changeableLists = findChangeableLists(asObject(result))
    this.#options.log(`session ${this.#key.id ?? 'none'} version ${this.#key.version ?? 'unknown'}`)
  }

  #start(): void {
    const key = this.#key
    this.#options.onReady()
    this.#stream?.close()
    if (key.id === undefined) return
    this.#stream = new GetStream({
      ...this.#options,
      key,
      onMissed: () => this.#announceChanges(this.#changeableLists),
      isLost: (reply) => this.isLost(reply, key),
      renew: () => this.renew(key),
    })
  }

  #announceChanges(lists: readonly string[]): void {
    for (const list of lists) this.#options.delivery.write(createListChangedLine(list))
  }

  async #delete(key: SessionKey): Promise<void> {
    if (key.id === undefined) return
    const request = { method: 'DELETE', fields: createSessionFields(key) } as const
    await this.#options.upstream.send(request, new ReplyReader(0)).done
  }
}
