import { setTimeout as sleep } from 'node:timers/promises'
import { type CausewayError, isId } from '@causeway/protocol'
import type { Log } from '../lifecycle/debug-log.ts'
import type { Session } from '../session/session.ts'
import { type ClientMessage, type Line, readLine } from '../stdio/message.ts'
import { createErrorLine } from './answer.ts'
import type { Delivery } from './delivery.ts'
import type { Forwarder } from './forwarder.ts'
import type { Call, PendingCalls } from './pending-calls.ts'

interface Options {
  readonly calls: PendingCalls
  readonly forwarder: Forwarder
  readonly session: Session
  readonly delivery: Delivery
  /** `true` stops reading from the client, `false` continues. */
  readonly onFull: (isFull: boolean) => void
  /** Grace period for the stream of a cancelled legacy call, in milliseconds; default: 30,000. */
  readonly cancelGraceMs?: number
  readonly log: Log
}

/** Further calls are queued. */
const maxInFlight = 256

/** A full queue stops reading. Not 0, because in-flight calls may depend on a later response from the client. */
const maxQueued = 256

/** A batch that contains one of these messages is split. */
const handledMethods: ReadonlySet<string> = new Set([
  'initialize',
  'notifications/initialized',
  'notifications/cancelled',
])

/** Handles a message. If it returns a promise, later messages wait for it. */
type StartMessage = () => Promise<void> | undefined

/**
 * Forwards `initialize` alone, then `notifications/initialized`, then all other messages concurrently. Never delays
 * stateless messages.
 */
export class Relay {
  readonly #options: Options
  /** Legacy messages that wait for the handshake. */
  readonly #delayedStarts: StartMessage[] = []
  readonly #backlog: Call[] = []
  readonly #onIdle: (() => void)[] = []
  #isDelaying = false
  #inFlight = 0
  #pendingSends = 0
  #isFull = false
  #failure: CausewayError | undefined

  constructor(options: Options) {
    this.#options = options
  }

  receive(bytes: Buffer): void {
    for (const line of readLine(bytes)) this.#accept(line)
    this.#update()
  }

  get isIdle(): boolean {
    return this.#options.calls.size === 0 && this.#pendingSends === 0 && this.#delayedStarts.length === 0
  }

  /** Resolves when every request is answered and every other message is sent. */
  waitUntilIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle.push(resolve)
      this.#update()
    })
  }

  closeSubscriptions(): void {
    const { calls } = this.#options
    for (const call of calls) {
      if (call.message.method !== 'subscriptions/listen') continue
      calls.settleAll(call)
      call.exchange?.abort()
    }
  }

  /** Answers all pending and later calls with this error. */
  failAll(error: CausewayError): void {
    const { calls, delivery } = this.#options
    this.#failure ??= error
    for (const call of calls) delivery.fail(call, error)
    this.#startDelayed()
  }

  #accept(line: Line): void {
    const { delivery, log } = this.#options
    if (line.type === 'rejected') {
      log(`! rejected a line: ${line.error.code}`)
      delivery.write(createErrorLine(line.id, line.error))
    } else if (line.type === 'batch') this.#enqueue(() => this.#startBatch(line.bytes, line.messages))
    else if (line.message.claimedVersion !== undefined) this.#start(line.message)
    else this.#enqueue(() => this.#start(line.message))
  }

  #enqueue(start: StartMessage): void {
    this.#delayedStarts.push(start)
    this.#startDelayed()
  }

  #startDelayed(): void {
    while (!this.#isDelaying || this.#failure !== undefined) {
      const start = this.#delayedStarts.shift()
      if (start === undefined) return
      const handshake = start()
      if (handshake === undefined) continue
      this.#isDelaying = true
      void handshake.finally(() => {
        this.#isDelaying = false
        this.#startDelayed()
      })
    }
  }

  #start(message: ClientMessage): Promise<void> | undefined {
    const { session } = this.#options
    const isLegacy = message.claimedVersion === undefined
    if (message.kind === 'request') {
      const call = this.#startCall(message.bytes, [message])
      if (isLegacy && message.method === 'initialize') return call.settled
      if (isLegacy) session.remember(message)
    } else if (message.method === 'notifications/cancelled') this.#cancel(message)
    else if (message.method === 'notifications/initialized') return this.#sendInitialized(message)
    else if (message.kind === 'response') this.#respond(message)
    else void this.#send(message)
    return undefined
  }

  /** Forwards a batch to a session of 2025-03-26, the only version with batches; otherwise splits it. */
  #startBatch(bytes: Buffer, messages: readonly ClientMessage[]): Promise<void> | undefined {
    const { session } = this.#options
    const firstRequest = messages.find(({ kind }) => kind === 'request')
    if (session.key.version === '2025-03-26' && firstRequest !== undefined && messages.every(canForward)) {
      this.#startCall(bytes, [firstRequest, ...messages.filter((message) => message !== firstRequest)])
      for (const message of messages) session.remember(message)
      return undefined
    }
    const handshakes = messages.flatMap((message) => this.#start(message) ?? [])
    return handshakes.length === 0 ? undefined : Promise.all(handshakes).then(() => {})
  }

  #startCall(bytes: Buffer, messages: readonly [ClientMessage, ...ClientMessage[]]): Call {
    const call = this.#options.calls.open(bytes, messages)
    if (this.#failure !== undefined) this.#options.delivery.fail(call, this.#failure)
    else if (this.#inFlight < maxInFlight) this.#forward(call)
    else this.#backlog.push(call)
    return call
  }

  #forward(call: Call): void {
    this.#inFlight += 1
    void this.#options.forwarder.forward(call)
    void call.settled.then(() => {
      this.#inFlight -= 1
      while (this.#inFlight < maxInFlight && this.#backlog.length > 0) {
        const nextCall = this.#backlog.shift() as Call
        if (nextCall.pendingIds.size > 0) this.#forward(nextCall)
      }
      this.#update()
    })
  }

  async #send(message: ClientMessage, precondition?: Promise<void>): Promise<boolean> {
    if (this.#failure !== undefined) return false
    this.#pendingSends += 1
    await precondition
    const isAccepted = await this.#options.forwarder.send(message)
    this.#pendingSends -= 1
    // Deferred, so that the caller can send the next message first.
    queueMicrotask(() => this.#update())
    return isAccepted
  }

  async #sendInitialized(message: ClientMessage): Promise<void> {
    const { session } = this.#options
    const isAccepted = await this.#send(message)
    // A session works even if the server rejected the notification. A new session must receive it.
    if (isAccepted || (this.#failure === undefined && session.key.id !== undefined)) session.remember(message)
  }

  #respond(message: ClientMessage): void {
    const bytes = this.#options.delivery.serverRequests.toServer(message)
    if (bytes !== undefined) void this.#send({ ...message, bytes })
    else this.#options.log(`dropped a response to a session that no longer exists, id ${message.id}`)
  }

  /**
   * The client receives nothing more for a cancelled id. In a session, the stream is read for a grace period, because
   * it may carry other messages.
   */
  #cancel(message: ClientMessage): void {
    const { calls, cancelGraceMs = 30_000 } = this.#options
    const { requestId } = message.params
    const call = isId(requestId) ? calls.find(requestId) : undefined
    if (call === undefined || !isId(requestId)) {
      // The server may still process a request that the bridge no longer tracks.
      if (message.claimedVersion === undefined) void this.#send(message)
      return
    }
    if (call.message.method === 'initialize') return
    calls.settle(call, requestId)
    const { exchange } = call
    if (exchange === undefined) return
    if (call.message.claimedVersion !== undefined) exchange.abort()
    else {
      void this.#send(message, exchange.whenWritten())
      // SDK servers never end the stream of a cancelled call.
      void call.settled
        .then(() => sleep(cancelGraceMs, undefined, { ref: false }))
        .then(() => call.exchange?.abort())
    }
  }

  #update(): void {
    const queuedCount = this.#backlog.length + this.#delayedStarts.length
    const isFull = queuedCount >= maxQueued
    if (isFull !== this.#isFull) this.#options.onFull(isFull)
    this.#isFull = isFull
    if (this.isIdle) for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}

const canForward = ({ kind, method, claimedVersion }: ClientMessage): boolean =>
  claimedVersion === undefined && kind !== 'response' && !handledMethods.has(method)
