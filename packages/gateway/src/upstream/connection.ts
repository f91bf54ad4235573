import {
  CausewayError,
  createFailure,
  createSuccess,
  isCausewayError,
  isObject,
  type Message,
  type Params,
  type Request,
} from '@causeway/protocol'
import { GatewayError } from '../errors.ts'
import { type Channel, SessionExpired } from './channel.ts'
import { toUpstreamError } from './upstream-error.ts'

/** Receives messages that a server sends during a request. */
export interface RequestOwner {
  progress(progress: number, total: number | undefined, message: string | undefined): void
  log(params: Params): void
  /** Throws a `RejectedRequest` if the client cannot answer. */
  ask(method: string, params: Params): Promise<unknown>
}

export class RejectedRequest extends Error {
  readonly rpcCode: number

  constructor(message: string, rpcCode = -32601) {
    super(message)
    this.rpcCode = rpcCode
  }
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  readonly owner?: RequestOwner | undefined
  /** Rejects with `DEADLINE_EXCEEDED` after this time without progress. */
  readonly silenceTimeoutMs?: number
  /** Rejects with `DEADLINE_EXCEEDED` after this time. */
  readonly maxMs?: number
}

export interface ConnectionOptions {
  readonly server: string
  readonly channel: Channel
  /**
   * Returns the request to which a message without a stream belongs, if only one is possible. `isAmbiguous` means that
   * the server may still process a cancelled request.
   */
  findOwner(requests: readonly RequestOwner[], isAmbiguous: boolean): RequestOwner | undefined
  onNotification(method: string, params: Params): void
  /** Answers requests that need no client, such as `roots/list`, or returns `undefined`. */
  onRequest(method: string, params: Params): unknown
  onClose(error: Error): void
}

interface PendingRequest {
  readonly owner: RequestOwner | undefined
  readonly abortController: AbortController
  resolve(result: unknown): void
  reject(error: unknown): void
  readonly timers: RequestTimers
}

/** The connection ends after this number of consecutive requests that could not be sent. */
const maxLostRequests = 5

/** Time for which a server may still process a request that was cancelled. */
const cancelledRequestMs = 60_000

/** JSON-RPC with one server. Creates its own ids and progress tokens. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #pendingRequests = new Map<number, PendingRequest>()
  /** Cancelled requests without a response, with the timers that delete them. */
  readonly #cancelTimers = new Map<number, NodeJS.Timeout>()
  #lastId = 0
  #lostRequestCount = 0
  #closeError: Error | undefined
  /** `_meta` of every request (MCP 2026-07-28). */
  #envelope: Params | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#closeError !== undefined
  }

  get inFlight(): number {
    return this.#pendingRequests.size
  }

  /** Without an envelope, the version is older than MCP 2026-07-28. */
  useEnvelope(envelope: Params): void {
    this.#envelope = envelope
  }

  get isModern(): boolean {
    return this.#envelope !== undefined
  }

  open(): Promise<void> {
    return this.#options.channel.start({
      onMessage: (message, request) => this.#receive(message, request),
      onRequestLost: (request, error) => this.#pendingRequests.get(request)?.reject(this.#toGoneError(error)),
      onClose: (error) => this.#end(error),
    })
  }

  /**
   * Returns the result as received. Throws `UPSTREAM_ERROR` with the server's error, `UPSTREAM_GONE` if the connection
   * ends first, and the reason of the signal.
   */
  async request(method: string, params: Params, options: RequestOptions = {}): Promise<unknown> {
    const { signal, owner, silenceTimeoutMs, maxMs } = options
    signal?.throwIfAborted()
    if (this.#closeError !== undefined) throw this.#toGoneError(this.#closeError)
    this.#lastId += 1
    const id = this.#lastId
    const abortController = new AbortController()
    const timers = new RequestTimers({ silenceTimeoutMs, maxMs }, (ms) =>
      cancel(this.#createTimeout(method, ms)),
    )
    const cancel = (reason: unknown): void => {
      const pendingRequest = this.#pendingRequests.get(id)
      if (pendingRequest === undefined) return
      pendingRequest.reject(reason)
      this.#cancel(id, method, abortController)
    }
    const onAbort = (): void => cancel(signal?.reason)
    try {
      return await new Promise((resolve, reject) => {
        this.#pendingRequests.set(id, {
          owner,
          abortController,
          resolve: (result) => {
            this.#pendingRequests.delete(id)
            resolve(result)
          },
          reject: (error) => {
            this.#pendingRequests.delete(id)
            reject(error)
          },
          timers,
        })
        signal?.addEventListener('abort', onAbort, { once: true })
        const message: Request = { jsonrpc: '2.0', id, method, params: this.#addMeta(params, id, owner) }
        this.#options.channel
          .send(message, abortController.signal)
          .catch((error: unknown) => this.#handleSendError(id, error))
      })
    } finally {
      timers.clear()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Ignores failures: the connection has then ended, which `onClose` reports. */
  notify(method: string, params?: Params): void {
    this.#options.channel
      .send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) })
      .catch(() => {})
  }

  async close(): Promise<void> {
    this.#end(new Error('it was stopped'))
    await this.#options.channel.close()
  }

  #addMeta(params: Params, id: number, owner: RequestOwner | undefined): Params {
    const meta = {
      ...this.#envelope,
      ...(isObject(params._meta) ? params._meta : {}),
      ...(owner === undefined ? {} : { progressToken: id }),
    }
    return Object.keys(meta).length === 0 ? params : { ...params, _meta: meta }
  }

  #cancel(id: number, method: string, abortController: AbortController): void {
    if (this.isModern && this.#options.channel.hasRequestStreams) {
      abortController.abort()
      return
    }
    this.#cancelTimers.set(id, setTimeout(() => this.#cancelTimers.delete(id), cancelledRequestMs).unref())
    // The specification forbids cancelling `initialize`.
    if (method !== 'initialize')
      this.notify('notifications/cancelled', { requestId: id, reason: 'cancelled by the client' })
    abortController.abort()
  }

  #receive(message: Message, request?: number): void {
    this.#lostRequestCount = 0
    if (!('method' in message)) {
      this.#settle(message)
      return
    }
    const { method, params = {} } = message
    if ('id' in message) void this.#answer(message, request)
    else if (method === 'notifications/progress') this.#reportProgress(params)
    else this.#notify(method, params, request)
  }

  #notify(method: string, params: Params, request: number | undefined): void {
    const owner = method === 'notifications/message' ? this.#getOwner(request) : undefined
    if (owner === undefined) this.#options.onNotification(method, params)
    else owner.log(params)
  }

  #settle(message: Extract<Message, { result: unknown } | { error: unknown }>): void {
    // Drops responses to cancelled or unknown requests.
    const { id } = message
    const pendingRequest = typeof id === 'number' ? this.#pendingRequests.get(id) : undefined
    if (pendingRequest === undefined) {
      this.#endCancelled(id)
      return
    }
    if ('error' in message) pendingRequest.reject(toUpstreamError(this.#options.server, message.error))
    else pendingRequest.resolve(message.result)
  }

  #endCancelled(id: unknown): void {
    if (typeof id !== 'number') return
    clearTimeout(this.#cancelTimers.get(id))
    this.#cancelTimers.delete(id)
  }

  #reportProgress({ progressToken, progress, total, message }: Params): void {
    const pendingRequest =
      typeof progressToken === 'number' ? this.#pendingRequests.get(progressToken) : undefined
    if (pendingRequest === undefined || typeof progress !== 'number') return
    pendingRequest.timers.restartSilence()
    pendingRequest.owner?.progress(
      progress,
      typeof total === 'number' ? total : undefined,
      typeof message === 'string' ? message : undefined,
    )
  }

  #getOwner(request: number | undefined): RequestOwner | undefined {
    if (request !== undefined) return this.#pendingRequests.get(request)?.owner
    const owners = [...this.#pendingRequests.values()].flatMap(({ owner }) => owner ?? [])
    return this.#options.findOwner(owners, this.#cancelTimers.size > 0)
  }

  async #answer({ id, method, params = {} }: Request, request: number | undefined): Promise<void> {
    const response = await this.#createAnswer(method, params, request).then(
      (result) => createSuccess(id, result),
      (error: unknown) =>
        createFailure(
          id,
          error instanceof RejectedRequest ? error.rpcCode : -32603,
          (error as Error).message,
        ),
    )
    if (!this.isClosed) this.#options.channel.send(response).catch(() => {})
  }

  async #createAnswer(method: string, params: Params, request: number | undefined): Promise<unknown> {
    if (method === 'ping') return {}
    const localAnswer = this.#options.onRequest(method, params)
    if (localAnswer !== undefined) return localAnswer
    const owner = this.#getOwner(request)
    if (owner === undefined)
      throw new RejectedRequest(`no client of the shared server can be asked: ${method}`)
    const timers = [...this.#pendingRequests.values()].find((candidate) => candidate.owner === owner)?.timers
    // A person may need minutes to answer.
    timers?.pauseSilence()
    try {
      return await owner.ask(method, params)
    } finally {
      timers?.restartSilence()
    }
  }

  #end(error: Error): void {
    if (this.#closeError !== undefined) return
    this.#closeError = error
    for (const timer of this.#cancelTimers.values()) clearTimeout(timer)
    this.#cancelTimers.clear()
    for (const { reject, abortController } of [...this.#pendingRequests.values()]) {
      reject(this.#toGoneError(error))
      abortController.abort()
    }
    this.#options.onClose(error)
  }

  #toGoneError(error: Error): CausewayError {
    const { server, channel } = this.#options
    return new GatewayError('UPSTREAM_GONE', `${server} ended during the call: ${error.message}`, {
      data: { server, stderr: channel.stderr.slice(-20) },
      cause: error,
    })
  }

  #handleSendError(id: number, error: unknown): void {
    const isReported = isCausewayError(error) || error instanceof SessionExpired
    const pendingRequest = this.#pendingRequests.get(id)
    pendingRequest?.reject(isReported ? error : this.#toGoneError(error as Error))
    const isUnreachable = !isReported || GatewayError.is(error, 'UPSTREAM_UNAVAILABLE')
    if (isUnreachable && pendingRequest !== undefined) this.#lostRequestCount += 1
    if (error instanceof SessionExpired || this.#lostRequestCount >= maxLostRequests)
      this.#end(error as Error)
  }

  #createTimeout(method: string, ms: number): CausewayError {
    const { server } = this.#options
    return new CausewayError('DEADLINE_EXCEEDED', `${server} did not respond to ${method} within ${ms} ms`, {
      data: { server, deadline_ms: ms },
    })
  }
}

class RequestTimers {
  readonly #silenceTimeoutMs: number | undefined
  readonly #onTimeout: (ms: number) => void
  readonly #max: NodeJS.Timeout | undefined
  #silenceTimer: NodeJS.Timeout | undefined
  #isCleared = false

  constructor(
    { silenceTimeoutMs, maxMs }: { silenceTimeoutMs: number | undefined; maxMs: number | undefined },
    onTimeout: (ms: number) => void,
  ) {
    this.#silenceTimeoutMs = silenceTimeoutMs
    this.#onTimeout = onTimeout
    if (maxMs !== undefined) this.#max = setTimeout(() => onTimeout(maxMs), maxMs).unref()
    this.restartSilence()
  }

  restartSilence(): void {
    const ms = this.#silenceTimeoutMs
    if (ms === undefined || this.#isCleared) return
    if (this.#silenceTimer !== undefined) this.#silenceTimer.refresh()
    else this.#silenceTimer = setTimeout(() => this.#onTimeout(ms), ms).unref()
  }

  pauseSilence(): void {
    clearTimeout(this.#silenceTimer)
    this.#silenceTimer = undefined
  }

  clear(): void {
    this.#isCleared = true
    this.pauseSilence()
    clearTimeout(this.#max)
  }
}
