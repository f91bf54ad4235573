import { CausewayError, readId } from '@causeway/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Core } from '../../host/core.ts'
import { logProtocolDetail } from '../../log/log.ts'
import type { Change, Mount } from '../../registry/mount.ts'
import { addErrorHandler, toErrorResponse } from '../error-responses.ts'
import { Exchange } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import { limitJsonBodies } from '../request-body.ts'
import { addRoutes, type Handler } from '../routes.ts'
import { JsonTransport } from './json-transport.ts'
import { checkMessageBody, checkMessages } from './message-limits.ts'
import { routeMessage } from './route-message.ts'
import { SessionTransport } from './session-transport.ts'
import { SseTransport } from './sse-transport.ts'
import { StatelessTransport } from './stateless-transport.ts'
import type { Transport } from './transport.ts'

export class McpRoutes {
  readonly #services: HttpServices
  readonly #stateless: StatelessTransport
  readonly #json: JsonTransport
  readonly #sse: SseTransport
  readonly #transports: readonly Transport[]
  readonly sessions: SessionTransport

  constructor(services: HttpServices) {
    this.#services = services
    this.#stateless = new StatelessTransport(services)
    this.sessions = new SessionTransport(services)
    this.#json = new JsonTransport(services, this.sessions)
    this.#sse = new SseTransport(services)
    this.#transports = [this.#stateless, this.sessions, this.#json, this.#sse]
    services.core.events.on('changed', this.#notify)
  }

  register(fastify: FastifyInstance): void {
    const { core, inFlight, log } = this.#services
    addErrorHandler(fastify, log, (error, { body }) => toErrorResponse(readId(body), error, 'modern'))
    limitJsonBodies(fastify, checkMessageBody)
    const post: Handler = async (request, reply) => {
      await this.#handleMessage(new Exchange(request, reply, findMount(core, request)))
      return reply
    }
    const useSession: Handler = async (request, reply) => {
      inFlight.admit()
      await this.sessions.handle(new Exchange(request, reply, findMount(core, request)))
      return reply
    }
    for (const url of ['/mcp', '/mcp/:app', '/mcp/p/:profile'])
      addRoutes(fastify, url, { POST: post, GET: useSession, DELETE: useSession })
    const connect: Handler = async (request, reply) => {
      inFlight.admit()
      await this.#sse.connect(request, reply, findMount(core, request))
      return reply
    }
    for (const url of ['/sse', '/sse/:app', '/sse/p/:profile']) addRoutes(fastify, url, { GET: connect })
    addRoutes(fastify, '/messages', {
      POST: async (request, reply) => {
        const exchange = new Exchange(request, reply, this.#sse.findMount(request))
        checkMessages(request.body)
        await this.#sse.handle(exchange)
        return reply
      },
    })
  }

  async close(): Promise<void> {
    this.#services.core.events.off('changed', this.#notify)
    await Promise.all(this.#transports.map((transport) => transport.close?.()))
  }

  async #handleMessage(exchange: Exchange): Promise<void> {
    const { request, mount } = exchange
    const { inFlight, log } = this.#services
    const { body } = request
    const { method } = (body ?? {}) as { method?: unknown }
    logProtocolDetail(log, { request_id: request.id, mount: mount.path, method }, 'message')
    if (body === undefined) throw new CausewayError('PARSE_ERROR', 'the request has no body')
    checkMessages(body)
    switch (routeMessage(request)) {
      case 'subscription':
        inFlight.admit()
        return this.#stateless.handle(exchange)
      case 'stateless':
        return inFlight.run(() => this.#stateless.handle(exchange))
      case 'open-session':
        return inFlight.run(() => this.sessions.open(exchange))
      case 'reply':
        return this.sessions.handle(exchange)
      case 'session':
        return inFlight.run(() => this.sessions.handle(exchange))
      case 'json':
        return inFlight.run(() => this.#json.handle(exchange))
    }
  }

  readonly #notify = (change: Change): void => {
    for (const transport of this.#transports) transport.notify?.(change)
  }
}

/** Finds the mount of `:app` or `:profile`, by default the shared mount. Throws `ROUTE_NOT_FOUND`. */
function findMount(core: Core, request: FastifyRequest): Mount {
  const { app, profile } = request.params as { app?: string; profile?: string }
  const path = profile !== undefined ? `/mcp/p/${profile}` : app === undefined ? '/mcp' : `/mcp/${app}`
  const { lists } = core.registry
  const mount = lists.get(path)?.mount
  if (mount !== undefined) return mount
  throw new CausewayError('ROUTE_NOT_FOUND', `nothing is served at ${path}`, {
    data: { mounts: [...lists.keys()] },
    remedy: 'use one of data.mounts',
  })
}
