import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ask, isAsk, type Log, type ToolContext } from '@causeway/app-kit'
import { LoginError, type ServerLogin } from '@causeway/oauth'
import { type CausewayError, isObject, meta, type Params } from '@causeway/protocol'
import { HostedCall } from '../calls/hosted-call.ts'
import type { ParkedCalls } from '../calls/parked-calls.ts'
import { runAsTask } from '../calls/run-as-task.ts'
import type { HostedServer, RenderedEndpoint } from '../config/index.ts'
import { getClientCapabilities, getListedCapabilities } from '../domain/capabilities.ts'
import type { Catalogue, ServerDescription } from '../domain/catalogue.ts'
import { continueWith, isInputRequired } from '../domain/input-required.ts'
import { GatewayError } from '../errors.ts'
import type { Channel } from '../upstream/channel.ts'
import { createChannel } from '../upstream/create-channel.ts'
import { fetchCatalogue } from '../upstream/fetch-catalogue.ts'
import type { PidFile } from '../upstream/pid-file.ts'
import { Instance } from './instance.ts'
import { type CallOrigin, InstancePool, type InstanceRequest } from './instance-pool.ts'
import { OutputLog } from './output-log.ts'

const silenceTimeoutMs = 5 * 60_000
const maxCallMs = 10 * 60_000

const startTimeoutMs = 30_000
/** These commands may download the server first. */
const installerPattern = /^(npx|uvx|pnpm|bunx|pipx|uv|docker|podman)(\.cmd|\.exe)?$/
const installTimeoutMs = 180_000

const maxListAttempts = 3

/** List changes within this time cause one refresh. */
const refreshDelayMs = 250

const listChangedMethods: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
])

export interface UpstreamServices {
  readonly dataDir: string
  readonly log: Log
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly random: () => number
  readonly createId: () => string
  readonly clientInfo: { readonly name: string; readonly version: string }
  readonly pidFile: PidFile
  readonly parkedCalls: ParkedCalls
  render(server: HostedServer, project: string | undefined): RenderedEndpoint
  createLogin(server: HostedServer): ServerLogin | undefined
}

export interface UpstreamServerOptions {
  readonly services: UpstreamServices
  readonly config: HostedServer
  /** Stored when the server was last listed. */
  readonly catalogue: Catalogue | undefined
  onCatalogue(catalogue: Catalogue): void
  onResource(uri: string): void
}

export type UpstreamMethod =
  | 'tools/call'
  | 'tools/call as task'
  | 'prompts/get'
  | 'resources/read'
  | 'completion/complete'

export class UpstreamServer {
  readonly config: HostedServer
  readonly pool: InstancePool
  readonly output: OutputLog
  readonly #options: UpstreamServerOptions
  readonly #log: Log
  #catalogue: Catalogue | undefined
  #refreshPromise: Promise<void> | undefined
  #listPromise: Promise<void> | undefined
  #listingInstance: Instance | undefined
  #refreshTimer: NodeJS.Timeout | undefined
  /** `atMs` is monotonic. */
  #failure: { readonly error: CausewayError; readonly atMs: number } | undefined
  #calls = 0
  #errors = 0
  #starts = 0
  #isClosed = false
  #logLevel: string | undefined

  constructor(options: UpstreamServerOptions) {
    const { config, services } = options
    this.config = config
    this.#options = options
    this.#catalogue = options.catalogue
    this.#log = services.log
    this.output = new OutputLog({
      now: services.now,
      log: (source, line) =>
        services.log.info({ server: config.name, source, line }, 'output of a hosted server'),
    })
    this.pool = new InstancePool({
      server: config.name,
      share: config.share,
      now: services.now,
      random: services.random,
      create: (request) => this.#createInstance(request),
    })
  }

  get catalogue(): Catalogue | undefined {
    return this.#catalogue
  }

  /** Failure of the latest start or process. Absent after a successful start. */
  get failure() {
    return this.#failure
  }

  get calls(): number {
    return this.#calls
  }

  get errors(): number {
    return this.#errors
  }

  get starts(): number {
    return this.#starts
  }

  /** Absent for a server with a configured token. Throws a `CausewayError`. */
  get login(): ServerLogin | undefined {
    return this.#options.services.createLogin(this.config)
  }

  prepare(): void {
    const { config } = this
    if (!config.enabled || config.needsApproval) return
    if (this.#catalogue !== undefined && config.start !== 'eager') return
    // `onFailure` reports a failure, and the next call retries.
    this.refreshCatalogue().catch(() => {})
  }

  /** Fetches lists from an instance with the capabilities that the lists depend on. */
  async refreshCatalogue(): Promise<void> {
    const signal = new AbortController().signal
    if (this.config.share === 'shared') {
      const instance = this.pool.getShared()
      await instance.use(signal, async () => {})
      return this.#refresh(instance)
    }
    this.#listPromise ??= this.#listInOwnInstance(signal).finally(() => {
      this.#listPromise = undefined
    })
    return this.#listPromise
  }

  /** Repeats the listing if lists change meanwhile. */
  async #listInOwnInstance(signal: AbortSignal): Promise<void> {
    let changes = 0
    const request: InstanceRequest = {
      key: 'catalogue',
      project: this.#getEmptyProject(),
      policy: this.pool.getPolicy(''),
      capabilities: getListedCapabilities(this.#sharingOptions),
      isOwned: false,
    }
    const instance = this.#createInstance(request, () => {
      changes += 1
    })
    this.#listingInstance = instance
    try {
      await instance.use(signal, async () => {})
      for (
        let attempt = 0, previousChanges = -1;
        attempt < maxListAttempts && changes !== previousChanges;
        attempt++
      ) {
        previousChanges = changes
        await this.#refresh(instance)
      }
    } finally {
      await instance.end()
    }
  }

  /** Returns the result as received, or questions for the client. Throws `UPSTREAM_ERROR`. */
  async request(method: UpstreamMethod, params: Params, ctx: ToolContext): Promise<unknown> {
    this.#requireUsable()
    const { parkedCalls, createId } = this.#options.services
    const state = isObject(ctx.input.kept) ? ctx.input.kept : {}
    const { hosted_call: parkedId, upstream } = state
    this.#calls += parkedId === undefined ? 1 : 0
    try {
      const call =
        typeof parkedId === 'string'
          ? parkedCalls.take(parkedId, ctx.clientKey)
          : this.#startCall(createId(), method, { ...params, ...continueWith(upstream, ctx.input) }, ctx)
      const outcome = await call.run(ctx)
      if (isAsk(outcome)) {
        parkedCalls.park(call)
        return outcome
      }
      return isInputRequired(outcome)
        ? ask(outcome.inputRequests, { upstream: { requestState: outcome.requestState } })
        : outcome
    } catch (error) {
      this.#errors += 1
      throw error
    }
  }

  /** Returns a function that ends the subscription. Throws if the server is disabled. */
  subscribe(uri: string, origin: CallOrigin): () => void {
    this.#requireUsable()
    return this.pool.find(origin).subscribe(uri)
  }

  setLogLevel(level: string): void {
    this.#logLevel = level
    for (const instance of this.pool.instances) instance.setLogLevel(level)
  }

  async restart(): Promise<void> {
    this.#failure = undefined
    await this.pool.stop()
    this.prepare()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#refreshTimer)
    await Promise.all([this.pool.stop(), this.#listingInstance?.end()])
  }

  get #sharingOptions() {
    const { share, concurrency, endpoint } = this.config
    return { share, concurrency, kind: endpoint.kind }
  }

  #requireUsable(): void {
    const { name, needsApproval, enabled } = this.config
    if (this.#isClosed)
      throw new GatewayError('UPSTREAM_GONE', `${name} was removed or changed`, { data: { server: name } })
    if (needsApproval)
      throw new GatewayError('NEEDS_APPROVAL', `${name} was not approved yet`, { data: { server: name } })
    if (!enabled)
      throw new GatewayError('UPSTREAM_UNAVAILABLE', `${name} is disabled`, {
        remedy: 'run causeway mcp enable',
        data: { server: name },
      })
  }

  #startCall(id: string, method: UpstreamMethod, params: Params, ctx: ToolContext): HostedCall {
    const { clientKey, traceparent } = ctx
    const clientCapabilities = getClientCapabilities(ctx.input.can)
    const instance = this.pool.find(ctx)
    const _meta = { ...(traceparent === undefined ? {} : { traceparent }) }
    return new HostedCall({ id, clientKey }, (owner, signal) =>
      instance
        .use(signal, (connection) => {
          const options = { signal, owner, silenceTimeoutMs, maxMs: maxCallMs }
          const envelope = connection.isModern
            ? { ..._meta, [meta.clientCapabilities]: clientCapabilities }
            : _meta
          const sentParams = { ...params, _meta: envelope }
          return method === 'tools/call as task'
            ? runAsTask(connection, sentParams, options)
            : connection.request(method, sentParams, options)
        })
        .finally(() => this.pool.release(instance)),
    )
  }

  #createInstance(request: InstanceRequest, onListChanged?: () => void): Instance {
    const { key, project, capabilities, isOwned, policy } = request
    const { config } = this
    const { services } = this.#options
    const listedCapabilities = getListedCapabilities(this.#sharingOptions)
    const sentCapabilities = capabilities ?? listedCapabilities
    const hasListedCapabilities = JSON.stringify(sentCapabilities) === JSON.stringify(listedCapabilities)
    const instance: Instance = new Instance({
      server: config.name,
      key,
      project,
      capabilities: sentCapabilities,
      isOwned,
      concurrency: config.concurrency,
      idleMs: config.idleMs,
      startTimeoutMs: getStartTimeoutMs(config),
      policy,
      now: services.now,
      clientInfo: services.clientInfo,
      getEra: () => this.#catalogue?.era,
      createChannel: () => this.#createChannel(project),
      onReady: () => {
        // Other instances may still need a login.
        if (!LoginError.is(this.#failure?.error, 'NEEDS_LOGIN')) this.#failure = undefined
        if (hasListedCapabilities) void this.#refresh(instance).catch(() => {})
      },
      onNotification: (method, params) => {
        if (method === 'notifications/message') this.output.add('message', describeMessage(params))
        if (method === 'notifications/resources/updated' && typeof params.uri === 'string')
          this.#options.onResource(params.uri)
        if (!listChangedMethods.has(method)) return
        if (onListChanged === undefined) this.#refreshSoon(hasListedCapabilities ? instance : undefined)
        else onListChanged()
      },
      onFailure: (error) => this.#recordFailure(error),
    })
    if (this.#logLevel !== undefined) instance.setLogLevel(this.#logLevel)
    return instance
  }

  #createChannel(project: string | undefined): Channel {
    // No instance connects until `restart`, which follows a login.
    if (LoginError.is(this.#failure?.error, 'NEEDS_LOGIN')) throw this.#failure.error
    this.#starts += 1
    const { services } = this.#options
    const { config } = this
    return createChannel(services.render(config, project), {
      server: config.name,
      project: config.share === 'shared' ? undefined : project,
      now: services.now,
      pidFile: services.pidFile,
      login: this.login,
      onOutput: (source, line) => this.output.add(source, line),
    })
  }

  #refreshSoon(source: Instance | undefined): void {
    this.#refreshTimer ??= setTimeout(() => {
      this.#refreshTimer = undefined
      const isRunning = source?.state === 'ready'
      const refresh = source !== undefined && isRunning ? this.#refresh(source) : this.refreshCatalogue()
      refresh.catch(() => {})
    }, refreshDelayMs).unref()
  }

  /** Concurrent calls share one refresh. */
  #refresh(instance: Instance): Promise<void> {
    this.#refreshPromise ??= this.#fetch(instance).finally(() => {
      this.#refreshPromise = undefined
    })
    return this.#refreshPromise
  }

  async #fetch(instance: Instance): Promise<void> {
    const signal = AbortSignal.timeout(getStartTimeoutMs(this.config))
    try {
      const catalogue = await instance.use(signal, (connection) =>
        fetchCatalogue(connection, requireDescription(instance), {
          signal,
          onSkipped: (method, { message }) => this.output.add('causeway', `${method} failed: ${message}`),
        }),
      )
      if (this.#isClosed) return
      this.#catalogue = catalogue
      this.#options.onCatalogue(catalogue)
    } catch (error) {
      this.#log.warn({ server: this.config.name, err: error }, 'a hosted server could not be listed')
      throw error
    }
  }

  #recordFailure(error: CausewayError): void {
    this.#failure = { error, atMs: this.#options.services.now() }
    const { code, message, data } = error
    this.output.add('causeway', `${code}: ${message}`)
    this.#log.warn({ server: this.config.name, code, message, stderr: data.stderr }, 'a hosted server failed')
  }

  /** Returns an empty folder, because lists do not belong to a project. */
  #getEmptyProject(): string {
    const folder = join(this.#options.services.dataDir, 'gateway', 'empty-project')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return folder
  }
}

const describeMessage = ({ level, data }: Params): string =>
  `${String(level)}: ${typeof data === 'string' ? data : JSON.stringify(data)}`.slice(0, 1000)

/** Hashes the members that a catalogue depends on. */
export const hashConfig = ({ endpoint, share, concurrency }: HostedServer): string =>
  createHash('sha256')
    .update(JSON.stringify([endpoint, share, concurrency === 1]))
    .digest('hex')
    .slice(0, 32)

function requireDescription({ description }: Instance): ServerDescription {
  if (description === undefined) throw new Error('the instance has no connection')
  return description
}

const getStartTimeoutMs = ({ endpoint }: HostedServer): number =>
  endpoint.kind === 'stdio' && installerPattern.test(basename(endpoint.command))
    ? installTimeoutMs
    : startTimeoutMs
