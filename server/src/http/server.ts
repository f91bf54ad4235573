/** The HTTP side of the server: one Fastify instance, its routes, and how it stops. */
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { CausewayError, headers } from '@causeway/protocol'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Tokens } from '../access/token-file.ts'
import type { Core } from '../core.ts'
import { protocolDetail } from '../log.ts'
import { openTasks, type Tasks } from '../tasks/tasks.ts'
import { Admission } from './admission.ts'
import { type Alias, type AliasListener, openAliases } from './alias.ts'
import { openAsking } from './asking.ts'
import { httpCaches } from './caches.ts'
import { chosenRequestId } from './exchange.ts'
import { tellAsObjects, tellBadPath } from './failure.ts'
import { guard } from './guard.ts'
import { healthRoute } from './health.ts'
import { type Crowd, type Inflight, inflight } from './inflight.ts'
import { mcpRoutes } from './mcp.ts'
import { type McpLegs, mcpLegs } from './mcp-legs.ts'
import { metricsRoute } from './metrics.ts'
import { ownRouteStrategy } from './own-route.ts'
import { openRecheck, type Recheck } from './recheck.ts'
import { limitJsonBodies } from './request-body.ts'
import { restRoutes } from './rest.ts'
import { openSockets, type Sockets, socketServerOptions } from './socket.ts'
import { sseRoutes } from './sse.ts'
import { headerTimeout, StalledBodies } from './stalled-bodies.ts'
import { toolListAnswers } from './tool-list.ts'
import { answerUnreadable } from './unreadable.ts'
import type { Wiring } from './wiring.ts'

/** Where to listen, and the limits of the wire. */
export interface HttpOptions {
  /** Address or name; anything but loopback wants `tokens`. */
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  readonly log: Logger
  readonly bodyLimitBytes: number
  /** Host names or addresses, without ports, that callers may use beside those of the loopback interface. */
  readonly allowedHosts?: readonly string[]
  /** Exact origins of web pages that may call without a token. */
  readonly allowedOrigins?: readonly string[]
  /** Milliseconds for the headers of a request, and without progress of its body; 0 is no limit. */
  readonly receiveTimeoutMs?: number
  /** Callers must show one of these. */
  readonly tokens?: Tokens | undefined
  /** Failures of plain calls on the port of an app under the numbers of the original designs. */
  readonly legacyErrors?: boolean
  /** When new requests get 503. */
  readonly crowd?: Crowd
  /** Further ports, each for one app. */
  readonly aliases?: readonly Alias[]
  /** Milliseconds between the comments that keep an idle stream open. */
  readonly keepAliveMs?: number
  /** Sessions held in memory at once. */
  readonly maxSessions?: number
  /** Milliseconds without use after which a session leaves the memory; it comes back with its next message. */
  readonly sessionIdleMs?: number
  /** Milliseconds after which a plain call of a session gets a stream. */
  readonly plainMs?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  readonly newId?: () => string
}

/** A server that listens. */
export interface HttpServer {
  /** `http://127.0.0.1:3100` */
  readonly url: string
  readonly port: number
  /** The further ports, in the order of the setting. */
  readonly aliases: readonly Pick<AliasListener, 'app' | 'port'>[]
  /** Every route, as `GET /health`. */
  readonly routes: readonly string[]
  /** The number of `initialize` sessions in memory. */
  sessions(): number
  /**
   * Stops: new calls get 503, those under way and tasks may end until the deadline in milliseconds, and streams are
   * ended.
   */
  close(deadlineMs: number): Promise<void>
}

/** Opens the HTTP side; rejects with the error of `listen`, as for a port in use. */
export async function openHttp(core: Core, options: HttpOptions): Promise<HttpServer> {
  const { host, port, log, bodyLimitBytes, allowedHosts = [], aliases = [], newId = randomUUID } = options
  const stopping = new AbortController()
  const wiring: Wiring = {
    stopping: stopping.signal,
    core,
    toolLists: toolListAnswers(core),
    log,
    inflight: inflight({ ...options.crowd, isShort: core.memory.isShort, onRefused: core.turnedAway }),
    asking: openAsking(core.signingKey),
    tasks: await openTasks({ store: core.tasks, log, now: options.now ?? Date.now, newId }),
    legacyErrors: options.legacyErrors ?? false,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    maxSessions: options.maxSessions ?? 256,
    sessionIdleMs: options.sessionIdleMs ?? 30 * 60_000,
    plainMs: options.plainMs ?? 100,
    now: options.now ?? Date.now,
    newId,
  }
  const { receiveTimeoutMs = 30_000 } = options
  const serverOptions = { ...socketServerOptions, ...headerTimeout(receiveTimeoutMs) }
  const fastify = Fastify({
    bodyLimit: bodyLimitBytes,
    exposeHeadRoutes: false,
    // Its own 503 has no code; ours comes from the count of what is under way.
    return503OnClosing: false,
    genReqId: (raw) => chosenRequestId(raw.headers) ?? newId(),
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (error, request, reply) => tellBadPath(error, request, reply),
    routerOptions: { maxParamLength: 512, constraints: { ownRoute: ownRouteStrategy(core) } },
    http: serverOptions,
  })
  const routes: string[] = []
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push(`${one} ${url}`)
  })
  // Browsers send text without a preflight.
  fastify.removeContentTypeParser('text/plain')
  limitJsonBodies(fastify)
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.header(headers.causewayRequest, request.id)
    done()
  })
  const admission = new Admission({
    allowedHosts: isUnspecific(host) ? allowedHosts : [...allowedHosts, host],
    allowedOrigins: options.allowedOrigins ?? [],
    tokens: options.tokens,
  })
  const recheck = openRecheck(admission)
  const stalledBodies = new StalledBodies({ timeoutMs: receiveTimeoutMs })
  guard(fastify, { admission, recheck, stalledBodies })
  tellAsObjects(fastify, log)
  logDetail(fastify, log)
  fastify.setNotFoundHandler(async ({ method, url }) => {
    throw new CausewayError('ROUTE_NOT_FOUND', `nothing is served at ${method} ${url}`)
  })
  const legs = mcpLegs(wiring)
  for (const cache of httpCaches({ toolLists: wiring.toolLists, sessions: legs.sessions }))
    core.memory.add(cache)
  const sockets = openSockets(wiring, { admission, recheck, maxPayload: bodyLimitBytes })
  sockets.attach(fastify.server)
  fastify.register(async (scope) => mcpRoutes(scope, wiring, legs))
  fastify.register(async (scope) => sseRoutes(scope, wiring, legs.sse))
  fastify.register(async (scope) => restRoutes(scope, wiring))
  healthRoute(fastify, wiring)
  metricsRoute(fastify, wiring)
  try {
    const onListening = (port: number): void => admission.addListener(port)
    fastify.server.once('listening', () => onListening((fastify.server.address() as AddressInfo).port))
    const url = await fastify.listen({ host, port })
    const ownPort = Number(new URL(url).port || 80)
    const listeners = await openAliases(fastify, core, { host, aliases, sockets, serverOptions, onListening })
    const servers = [fastify.server, ...listeners.map(({ server }) => server)]
    return {
      url,
      routes,
      port: ownPort,
      aliases: listeners.map((listener) => ({ app: listener.app, port: listener.port })),
      sessions: () => legs.sessions.size,
      close: (deadlineMs) =>
        close(
          {
            fastify,
            servers,
            legs,
            sockets,
            stopping,
            recheck,
            stalledBodies,
            tasks: wiring.tasks,
            inflight: wiring.inflight,
          },
          deadlineMs,
        ),
    }
  } catch (error) {
    await legs.close()
    await fastify.close()
    throw error
  }
}

/** An address that stands for all of the machine, and that nobody calls by. */
const isUnspecific = (host: string): boolean => host === '0.0.0.0' || host === '::'

interface Closing {
  readonly fastify: FastifyInstance
  /** Its own and those of the aliases. */
  readonly servers: readonly Server[]
  readonly inflight: Inflight
  readonly legs: McpLegs
  readonly sockets: Sockets
  readonly tasks: Tasks
  readonly stopping: AbortController
  readonly recheck: Recheck
  readonly stalledBodies: StalledBodies
}

/** The order matters: `fastify.close` waits for every open response, so the streams are ended before it. */
async function close(
  { fastify, servers, inflight, legs, sockets, tasks, stopping, recheck, stalledBodies }: Closing,
  deadlineMs: number,
): Promise<void> {
  const late = new AbortController()
  const deadline = delay(deadlineMs, undefined, { signal: late.signal }).catch(() => {})
  // A call that is under way may become a task yet.
  await Promise.race([inflight.stop().then(() => tasks.idle()), deadline])
  stopping.abort(new CausewayError('SHUTTING_DOWN', 'the server is stopping'))
  await Promise.all([legs.close(), sockets.close(), tasks.close()])
  // A stream that has just been ended leaves an idle connection behind a moment later, which would be waited for.
  const sweep = setInterval(() => {
    for (const server of servers) server.closeIdleConnections()
  }, 10)
  const closed = Promise.all([fastify.close(), ...servers.slice(1).map(closeServer)]).finally(() =>
    clearInterval(sweep),
  )
  await Promise.race([closed, deadline])
  for (const server of servers) server.closeAllConnections()
  await closed
  recheck.close()
  stalledBodies.close()
  late.abort()
}

const closeServer = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))

/** One line for each HTTP request, where protocol detail is wanted. */
function logDetail(fastify: FastifyInstance, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return
  fastify.addHook('onResponse', ({ id, method, url }, reply, done) => {
    const { statusCode: status, elapsedTime } = reply
    const ms = Math.round(elapsedTime * 10) / 10
    // Without the query: the session of the old event stream stands in it, which is as good as a password.
    const path = url.split('?')[0]
    protocolDetail(log, { request_id: id, method, url: path, status, ms }, 'answer')
    done()
  })
}
