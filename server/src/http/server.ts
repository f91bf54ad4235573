import { randomUUID } from 'node:crypto'
import type { Server, ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { CausewayError, headers } from '@causeway/protocol'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { TokenFile } from '../access/token-file.ts'
import type { Core } from '../host/core.ts'
import { logProtocolDetail } from '../log/log.ts'
import { Tasks } from '../tasks/tasks.ts'
import { type Alias, type AliasListener, openAliases } from './alias.ts'
import { AppSockets, socketServerOptions } from './app-routes/app-sockets.ts'
import { createOverrideStrategy } from './app-routes/match-route.ts'
import { sendClientError } from './client-error.ts'
import { addConsolePages, isUnknownPage, sendUnknownPage } from './console/console-pages.ts'
import { addErrorHandler, sendPathError } from './error-responses.ts'
import { parseRequestId } from './exchange.ts'
import { addHostedRoutes } from './hosted/hosted-routes.ts'
import { toCallbackUrl } from './hosted/login-routes.ts'
import type { HttpServices } from './http-services.ts'
import { type InFlightLimits, InFlightRequests } from './in-flight.ts'
import { InputCodec } from './mcp/input-codec.ts'
import { McpRoutes } from './mcp/mcp-routes.ts'
import { ToolLists } from './mcp/responses.ts'
import { addOperationsRoutes } from './ops/operations-routes.ts'
import { drainBodies, limitJsonBodies } from './request-body.ts'
import { addRestRoutes } from './rest/rest.ts'
import { Admission } from './security/admission.ts'
import { guard } from './security/guard.ts'
import { createHeaderTimeout, StalledBodies } from './security/stalled-bodies.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** URL without a trailing slash. */
    publicUrl: string | undefined
  }
}

type OwnServices = 'core' | 'log' | 'toolLists' | 'inFlight' | 'inputCodec' | 'tasks' | 'stopping'

export interface HttpOptions extends Partial<Omit<HttpServices, OwnServices>> {
  /** Addresses other than loopback require `tokens`. */
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  readonly bodyLimitBytes: number
  /** Host names without ports, in addition to loopback. */
  readonly allowedHosts?: readonly string[]
  /** Exact origins whose pages are admitted like programs. */
  readonly allowedOrigins?: readonly string[]
  /** Base URL of links in results. Default: the address of the request. */
  readonly publicUrl?: string | undefined
  /** Timeout for headers and for pauses in a body; 0 disables it. */
  readonly receiveTimeoutMs?: number
  readonly tokens?: TokenFile | undefined
  readonly inFlightLimits?: Pick<InFlightLimits, 'max' | 'isOverloaded'>
  readonly aliases?: readonly Alias[]
  /** Default: the pages of `@causeway/console`. */
  readonly consolePages?: string
}

export class HttpServer {
  readonly routes: string[] = []
  readonly #options: HttpOptions
  readonly #serverOptions: ServerOptions
  readonly #services: HttpServices
  readonly #stopping = new AbortController()
  readonly #fastify: FastifyInstance
  readonly #admission: Admission
  readonly #stalledBodies: StalledBodies
  readonly #mcp: McpRoutes
  readonly #sockets: AppSockets
  #aliases: readonly AliasListener[] = []
  #url = ''

  private constructor(core: Core, tasks: Tasks, options: HttpOptions) {
    const { host, bodyLimitBytes, allowedHosts = [], allowedOrigins = [] } = options
    const { tokens, receiveTimeoutMs = 30_000 } = options
    const { log } = core
    this.#options = options
    this.#serverOptions = { ...socketServerOptions, ...createHeaderTimeout(receiveTimeoutMs) }
    this.#services = createServices(core, { tasks, stopping: this.#stopping.signal, ...options })
    this.#fastify = this.#createFastify(core)
    const isAnyAddress = host === '0.0.0.0' || host === '::'
    this.#admission = new Admission({
      allowedHosts: isAnyAddress ? allowedHosts : [...allowedHosts, host],
      allowedOrigins,
      tokens,
    })
    this.#stalledBodies = new StalledBodies({ timeoutMs: receiveTimeoutMs })
    guard(this.#fastify, { admission: this.#admission, stalledBodies: this.#stalledBodies })
    addErrorHandler(this.#fastify, log)
    logResponses(this.#fastify, log)
    this.#mcp = new McpRoutes(this.#services)
    this.#sockets = new AppSockets(this.#services, { admission: this.#admission, maxPayload: bodyLimitBytes })
    this.#sockets.attach(this.#fastify.server)
    this.#addRoutes()
    core.openSessions.push(this.#mcp.sessions)
    for (const { cache } of [this.#services.toolLists, this.#mcp.sessions])
      core.caches.push({ owner: 'causeway', cache })
  }

  static async open(core: Core, options: HttpOptions): Promise<HttpServer> {
    const tasks = await Tasks.open({
      store: core.store.tasks,
      log: core.log,
      now: Date.now,
      newId: randomUUID,
    })
    const server = new HttpServer(core, tasks, options)
    try {
      await server.#listen(core)
      return server
    } catch (error) {
      await server.#mcp.close()
      await server.#fastify.close()
      throw error
    }
  }

  get url(): string {
    return this.#url
  }

  get port(): number {
    return Number(new URL(this.#url).port || 80)
  }

  get aliases(): readonly Pick<AliasListener, 'app' | 'port'>[] {
    return this.#aliases.map(({ app, port }) => ({ app, port }))
  }

  get sessionCount(): number {
    return this.#mcp.sessions.size
  }

  /** Rejects new calls with 503, waits up to `graceMs` for calls and tasks, then ends everything. */
  async close(graceMs: number): Promise<void> {
    const { inFlight, tasks } = this.#services
    const timer = new AbortController()
    const graceEnd = delay(graceMs, undefined, { signal: timer.signal }).catch(() => {})
    // Running calls can become tasks.
    await Promise.race([inFlight.stop().then(() => tasks.waitUntilIdle()), graceEnd])
    this.#stopping.abort(new CausewayError('SHUTTING_DOWN', 'the server is stopping'))
    // Streams end first, because Fastify waits for every open response.
    await Promise.all([this.#mcp.close(), this.#sockets.close(), tasks.close()])
    const servers = [this.#fastify.server, ...this.#aliases.map(({ server }) => server)]
    // Fastify also waits for idle connections of streams that just ended.
    const sweep = setInterval(() => {
      for (const server of servers) server.closeIdleConnections()
    }, 10)
    const aliases = this.#aliases.map(({ server }) => closeServer(server))
    const closed = Promise.all([this.#fastify.close(), ...aliases]).finally(() => clearInterval(sweep))
    await Promise.race([closed, graceEnd])
    for (const server of servers) server.closeAllConnections()
    await closed
    this.#admission.close()
    this.#stalledBodies.close()
    timer.abort()
  }

  #createFastify(core: Core): FastifyInstance {
    const fastify = Fastify({
      bodyLimit: this.#options.bodyLimitBytes,
      exposeHeadRoutes: false,
      // `InFlightRequests` sends an error code instead.
      return503OnClosing: false,
      genReqId: (raw) => parseRequestId(raw.headers) ?? randomUUID(),
      clientErrorHandler: sendClientError,
      frameworkErrors: (error, request, reply) => sendPathError(error, request, reply),
      routerOptions: {
        maxParamLength: 512,
        constraints: { ownRoute: createOverrideStrategy(core.registry) },
      },
      http: this.#serverOptions,
      schemaController: {
        compilersFactory: { buildValidator: rejectSchemas, buildSerializer: rejectSchemas },
      },
    })
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const routeMethod of [method].flat()) this.routes.push(`${routeMethod} ${url}`)
    })
    fastify.decorate('publicUrl', this.#options.publicUrl?.replace(/\/+$/, ''))
    // Browsers send `text/plain` without a preflight.
    fastify.removeContentTypeParser('text/plain')
    limitJsonBodies(fastify)
    drainBodies(fastify)
    fastify.addHook('onRequest', (request, reply, done) => {
      reply.header(headers.causewayRequest, request.id)
      done()
    })
    fastify.setNotFoundHandler(async (request, reply) => {
      if (isUnknownPage(request)) return sendUnknownPage(request, reply, this.#options.consolePages)
      const { method, url } = request
      throw new CausewayError('ROUTE_NOT_FOUND', `nothing is served at ${method} ${url}`)
    })
    return fastify
  }

  #addRoutes(): void {
    this.#fastify.register(async (scope) => this.#mcp.register(scope))
    this.#fastify.register(async (scope) => addRestRoutes(scope, this.#services))
    this.#fastify.register(async (scope) => addHostedRoutes(scope, this.#services))
    addOperationsRoutes(this.#fastify, this.#services)
    addConsolePages(this.#fastify, this.#options.consolePages)
  }

  async #listen(core: Core): Promise<void> {
    const { host, port, aliases = [] } = this.#options
    const fastify = this.#fastify
    const onListening = (openPort: number): void => this.#admission.addListener(openPort)
    fastify.server.once('listening', () => onListening((fastify.server.address() as AddressInfo).port))
    this.#url = await fastify.listen({ host, port })
    core.hosted.callbackUrl = toCallbackUrl(fastify, fastify.server.address() as AddressInfo)
    this.#aliases = await openAliases(fastify, core, {
      host,
      aliases,
      sockets: this.#sockets,
      serverOptions: this.#serverOptions,
      onListening,
    })
  }
}

/** Throws, because schemas would load Ajv and fast-json-stringify, 110 modules, at the start. */
function rejectSchemas(): never {
  throw new Error('routes have no schemas')
}

const createServices = (
  core: Core,
  { inFlightLimits, hasFastPath = true, ...options }: HttpOptions & Pick<HttpServices, 'tasks' | 'stopping'>,
): HttpServices => ({
  legacyErrors: false,
  hasFastPath,
  keepAliveMs: 15_000,
  maxSessions: 256,
  sessionIdleMs: 30 * 60_000,
  quickCallMs: 100,
  ...options,
  core,
  log: core.log,
  toolLists: new ToolLists(core.registry, { bypassesSdk: hasFastPath }),
  inFlight: new InFlightRequests({
    ...inFlightLimits,
    isMemoryLow: () => core.memory.isMemoryLow,
    onRejected: (shortage) => core.metrics.recordRejection(shortage),
  }),
  inputCodec: new InputCodec(core.store.signingKey),
})

const closeServer = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))

function logResponses(fastify: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return
  fastify.addHook('onResponse', ({ id, method, url }, reply, done) => {
    const { statusCode: status, elapsedTime } = reply
    const ms = Math.round(elapsedTime * 10) / 10
    // The query may contain a session id, which is a secret.
    const path = url.split('?')[0]
    logProtocolDetail(log, { request_id: id, method, url: path, status, ms }, 'answer')
    done()
  })
}
