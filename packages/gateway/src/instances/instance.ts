import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { LoginError } from '@causeway/oauth'
import { type CausewayError, isCausewayError, type JsonObject, type Params } from '@causeway/protocol'
import type { ServerDescription, UpstreamEra } from '../domain/catalogue.ts'
import { GatewayError } from '../errors.ts'
import { type Channel, SessionExpired } from '../upstream/channel.ts'
import { Connection } from '../upstream/connection.ts'
import { performHandshake } from '../upstream/handshake.ts'
import { ResourceSubscriptions } from '../upstream/resource-subscriptions.ts'
import type { RestartPolicy } from './restart-policy.ts'
import { Slots } from './slots.ts'

export type InstanceState = 'idle' | 'starting' | 'ready' | 'backoff' | 'down' | 'needs_login'

/** Uptime after which a crash does not delay the restart. */
const minStableMs = 5 * 60_000

/** A call waits for a restart, but fails immediately if the delay is longer than this. */
const maxWaitMs = 30_000

export interface InstanceOptions {
  readonly server: string
  /** Client or project; empty if shared by all. */
  readonly key: string
  readonly project: string | undefined
  readonly capabilities: JsonObject
  /** Whether a single client uses the instance. Otherwise, the server can ask clients only with a concurrency of 1. */
  readonly isOwned: boolean
  readonly concurrency: number
  readonly idleMs: number
  readonly startTimeoutMs: number
  readonly policy: RestartPolicy
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly clientInfo: { readonly name: string; readonly version: string }
  getEra(): UpstreamEra | undefined
  /** Throws a `CausewayError` for an unusable configuration. */
  createChannel(): Channel
  onReady(): void
  onNotification(method: string, params: Params): void
  onFailure(error: CausewayError): void
}

/** One process or session of a hosted server. The first call starts it. */
export class Instance {
  readonly #options: InstanceOptions
  readonly #slots: Slots
  #state: InstanceState = 'idle'
  #stateSinceMs: number
  #connection: Connection | undefined
  #channel: Channel | undefined
  #startPromise: Promise<Connection> | undefined
  #stopController = new AbortController()
  #closePromise: Promise<void> = Promise.resolve()
  #isClosing = false
  #isEnded = false
  #userCount = 0
  #lastUsedMs: number
  #readyAtMs = 0
  #description: ServerDescription | undefined
  readonly #subscriptions: ResourceSubscriptions
  #logLevel: string | undefined
  #idleTimer: NodeJS.Timeout | undefined
  /** 0 disables the idle stop. */
  #idleMs: number
  #loginError: CausewayError | undefined

  constructor(options: InstanceOptions) {
    this.#options = options
    this.#slots = new Slots(options.concurrency)
    this.#subscriptions = new ResourceSubscriptions(options.now)
    this.#idleMs = options.idleMs
    this.#stateSinceMs = options.now()
    this.#lastUsedMs = this.#stateSinceMs
  }

  get key(): string {
    return this.#options.key
  }

  get project(): string | undefined {
    return this.#options.project
  }

  get state(): InstanceState {
    if (this.#state !== 'backoff') return this.#state
    const { isDown, waitMs } = this.#options.policy
    return isDown ? 'down' : waitMs > 0 ? 'backoff' : 'idle'
  }

  get stateSinceMs(): number {
    return this.#stateSinceMs
  }

  get lastUsedMs(): number {
    return this.#lastUsedMs
  }

  get pid(): number | undefined {
    return this.#connection === undefined ? undefined : this.#channel?.pid
  }

  get stderr(): readonly string[] {
    return this.#channel?.stderr ?? []
  }

  /** Number of calls and subscriptions. */
  get userCount(): number {
    return this.#userCount
  }

  get inFlight(): number {
    return this.#slots.usedCount
  }

  get isUnused(): boolean {
    const isStopped = this.state === 'idle' || this.state === 'needs_login'
    return this.#userCount === 0 && isStopped && !this.#isClosing
  }

  /** Result of the latest handshake. */
  get description(): ServerDescription | undefined {
    return this.#description
  }

  /**
   * Runs work on a connection, opened if necessary. Throws `UPSTREAM_UNAVAILABLE`, `NEEDS_LOGIN` and errors of the
   * work. Repeats work after a lost session.
   */
  async use<T>(signal: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T> {
    const release = this.retain()
    try {
      return await this.#slots.run(signal, async () => {
        const connection = await this.#getConnection(signal)
        try {
          return await work(connection)
        } catch (error) {
          if (LoginError.is(error, 'NEEDS_LOGIN')) this.#requireLogin(connection, error)
          if (!(error instanceof SessionExpired)) throw error
          return await work(await this.#getConnection(signal))
        }
      })
    } finally {
      release()
    }
  }

  /** Prevents the idle stop until the returned function is called. */
  retain(): () => void {
    this.#userCount += 1
    clearTimeout(this.#idleTimer)
    let isRetained = true
    return () => {
      if (!isRetained) return
      isRetained = false
      this.#userCount -= 1
      this.#lastUsedMs = this.#options.now()
      this.#stopWhenIdle()
    }
  }

  /** Subscribes until the returned function is called. A restart renews the subscription. */
  subscribe(uri: string): () => void {
    const release = this.retain()
    this.#subscriptions.add(uri)
    this.#getConnection(this.#stopController.signal).catch(() => {})
    let isActive = true
    return () => {
      if (!isActive) return
      isActive = false
      this.#subscriptions.remove(uri)
      release()
    }
  }

  /** `level` is the lowest level that any client requested. */
  setLogLevel(level: string): void {
    this.#logLevel = level
    const connection = this.#connection
    if (connection === undefined || connection.isModern) return
    if (this.#description?.capabilities.logging !== undefined)
      connection.request('logging/setLevel', { level }).catch(() => {})
  }

  limitIdleTime(ms: number): void {
    this.#idleMs = this.#idleMs === 0 ? ms : Math.min(this.#idleMs, ms)
    this.#stopWhenIdle()
  }

  /** The next call starts the instance again. */
  async stop(): Promise<void> {
    clearTimeout(this.#idleTimer)
    this.#stopController.abort(new GatewayError('UPSTREAM_GONE', `${this.#options.server} was stopped`))
    this.#stopController = new AbortController()
    const connection = this.#connection
    this.#connection = undefined
    this.#setState('idle')
    if (connection !== undefined) this.#close(connection)
    await this.#closePromise
  }

  end(): Promise<void> {
    this.#isEnded = true
    return this.stop()
  }

  #stopWhenIdle(): void {
    clearTimeout(this.#idleTimer)
    if (this.#userCount > 0 || this.#idleMs === 0) return
    this.#idleTimer = setTimeout(() => void this.stop(), this.#idleMs).unref()
  }

  async #getConnection(signal: AbortSignal): Promise<Connection> {
    if (this.#isEnded) throw new GatewayError('UPSTREAM_GONE', `${this.#options.server} was stopped`)
    if (this.#connection !== undefined && !this.#connection.isClosed) return this.#connection
    this.#startPromise ??= this.#start(this.#stopController.signal).finally(() => {
      this.#startPromise = undefined
    })
    return raceAbort(this.#startPromise, signal)
  }

  async #start(stopSignal: AbortSignal): Promise<Connection> {
    const { policy } = this.#options
    await this.#waitForPolicy(stopSignal)
    // Waits for the previous process, because two processes could damage the files of the server.
    await this.#closePromise
    stopSignal.throwIfAborted()
    this.#setState('starting')
    let connection: Connection | undefined
    try {
      const channel = this.#options.createChannel()
      this.#channel = channel
      connection = this.#createConnection(channel)
      const description = await this.#open(connection, channel, stopSignal)
      if (connection.isClosed) throw new Error('it ended after the handshake')
      this.#connection = connection
      this.#readyAtMs = this.#options.now()
      this.#description = description
      this.#setState('ready')
      this.#subscriptions.use(connection, description)
      if (this.#logLevel !== undefined) this.setLogLevel(this.#logLevel)
      this.#options.onReady()
      return connection
    } catch (error) {
      const failure = this.#toStartError(error)
      if (connection !== undefined) this.#close(connection)
      if (stopSignal.aborted) this.#setState('idle')
      else if (LoginError.is(failure, 'NEEDS_LOGIN')) {
        this.#loginError = failure
        this.#setState('needs_login')
      } else {
        policy.recordFailure(Number(failure.data.retry_after_ms ?? 0))
        this.#setState('backoff')
      }
      this.#options.onFailure(failure)
      await this.#closePromise
      throw failure
    }
  }

  /** Closes the connection later, so that other pending calls fail with the same error. */
  #requireLogin(connection: Connection, error: CausewayError): void {
    if (this.#connection !== connection) return
    this.#connection = undefined
    this.#loginError = error
    this.#setState('needs_login')
    this.#options.onFailure(error)
    setImmediate(() => this.#close(connection))
  }

  async #waitForPolicy(stopSignal: AbortSignal): Promise<void> {
    const { policy, server } = this.#options
    if (this.#state === 'needs_login' && this.#loginError !== undefined) throw this.#loginError
    const { waitMs, isDown } = policy
    if (waitMs === 0) return
    if (isDown || waitMs > maxWaitMs)
      throw new GatewayError('UPSTREAM_UNAVAILABLE', `${server} failed and is not restarted yet`, {
        remedy: 'correct its entry in mcp.json or run causeway mcp restart',
        data: { server, retry_after_ms: Math.ceil(waitMs), stderr: this.stderr.slice(-20) },
      })
    this.#setState('backoff')
    await delay(waitMs, undefined, { signal: stopSignal })
  }

  #createConnection(channel: Channel): Connection {
    const { server, isOwned, concurrency } = this.#options
    const connection: Connection = new Connection({
      server,
      channel,
      findOwner: (owners, isAmbiguous) =>
        isOwned || (concurrency === 1 && !isAmbiguous) ? owners.at(-1) : undefined,
      onNotification: (method, params) => this.#options.onNotification(method, params),
      onRequest: (method) => this.#answer(method),
      onClose: (error) => this.#handleClose(connection, error),
    })
    return connection
  }

  async #open(connection: Connection, channel: Channel, stopSignal: AbortSignal): Promise<ServerDescription> {
    const { server, capabilities, clientInfo, startTimeoutMs } = this.#options
    const signal = AbortSignal.any([stopSignal, AbortSignal.timeout(startTimeoutMs)])
    await raceAbort(connection.open(), signal)
    const era = this.#options.getEra()
    return performHandshake(connection, channel, { server, capabilities, clientInfo, era, signal })
  }

  /** The project folder is the only root, so no client has to be asked. */
  #answer(method: string): unknown {
    const { project, capabilities } = this.#options
    if (method !== 'roots/list' || capabilities.roots === undefined) return undefined
    const roots = project === undefined ? [] : [{ uri: pathToFileURL(project).href, name: basename(project) }]
    return { roots }
  }

  #handleClose(connection: Connection, error: Error): void {
    // The start reports its own failures, and a stop is not a failure.
    if (this.#connection !== connection) return
    this.#connection = undefined
    const { policy, server, now } = this.#options
    this.#close(connection)
    if (error instanceof SessionExpired) {
      this.#setState('idle')
      return
    }
    if (now() - this.#readyAtMs > minStableMs) policy.reset()
    policy.recordFailure()
    this.#setState('backoff')
    this.#options.onFailure(
      new GatewayError('UPSTREAM_GONE', `${server} ended: ${error.message}`, {
        data: { server, stderr: this.stderr.slice(-20) },
        cause: error,
      }),
    )
    if (this.#subscriptions.size > 0) this.#getConnection(this.#stopController.signal).catch(() => {})
  }

  #close(connection: Connection): void {
    this.#isClosing = true
    const closePromise = connection
      .close()
      .catch(() => {})
      .finally(() => {
        if (this.#closePromise === closePromise) this.#isClosing = false
      })
    this.#closePromise = closePromise
  }

  #toStartError(error: unknown): CausewayError {
    if (isCausewayError(error) && !GatewayError.is(error, 'UPSTREAM_GONE', 'UPSTREAM_ERROR')) return error
    const { server, startTimeoutMs } = this.#options
    const { cause, data = {} } = error as { cause?: Error; data?: object }
    const isTimeout = (error as Error).name === 'TimeoutError'
    const reason = isTimeout
      ? `it did not complete the handshake within ${startTimeoutMs} ms`
      : (cause?.message ?? (error as Error).message)
    return new GatewayError('UPSTREAM_UNAVAILABLE', `${server} cannot be started: ${reason}`, {
      data: { ...data, server, stderr: this.stderr.slice(-20) },
      cause: error,
    })
  }

  #setState(state: InstanceState): void {
    if (this.#state === state) return
    this.#state = state
    this.#stateSinceMs = this.#options.now()
  }
}

/** Rejects when the signal aborts; the work continues. */
async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let onAbort = (): void => {}
  const abortPromise = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, abortPromise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
