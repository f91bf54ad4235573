import type { Readable } from 'node:stream'
import { CausewayError, checkJson } from '@causeway/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { getMethodScope } from '../../access/access.ts'
import type { Caller } from '../../dispatch/caller.ts'
import { createChannelOperation } from '../../dispatch/operation.ts'
import type { Core } from '../../host/core.ts'
import { createBareMount } from '../../registry/mount.ts'
import type { HostedApp } from '../../registry/registry.ts'
import { Exchange } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import { checkBodyHeaders, readBody } from '../request-body.ts'
import { createMethodError, type Handler } from '../routes.ts'
import { sendResponse, toWebRequest } from '../web-messages.ts'
import { getAppPath, matchRoutes, overrideConstraint, type RouteMatch } from './match-route.ts'

/** Adds a wildcard route below `/api/apps/<app>/`, because reloaded user apps can have other routes. */
export function addAppRoutes(fastify: FastifyInstance, { core, inFlight, stopping }: HttpServices): void {
  // Each route declares its body types and whether it streams the body.
  const limit = { bytes: fastify.initialConfig.bodyLimit ?? Number.POSITIVE_INFINITY }
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (_request, body, done) => done(null, body))
  const handler: Handler = async (request, reply) => {
    const app = findApp(core, request)
    const { route, variables } = findRoute(app, request)
    checkBodyHeaders(request.headers, route.body)
    const requestCaller = createRestCaller(request, reply, app, 'route')
    const signal = AbortSignal.any([requestCaller.cancellation.signal, stopping])
    const caller = { ...requestCaller, cancellation: { signal } }
    const stream = request.body as Readable | undefined
    const body = route.streams === true || stream === undefined ? stream : await readBody(stream, limit)
    // The app itself would parse the body without limits.
    if (Buffer.isBuffer(body) && route.body.accepts.includes('application/json')) checkJson(body)
    const input = toWebRequest(request, { signal, ...(body === undefined ? {} : { body }) })
    const operation = createChannelOperation('route', route.scope ?? getMethodScope(route.method))
    await inFlight.run((leave) =>
      // The end of the context saves the session and measures the time.
      core.withContext(app.path, caller, operation, async (ctx) => {
        const response = await route.handle(input, variables, ctx)
        if (isEventStream(response)) endOnStop(reply, stopping, leave)
        // A stalled body may have been answered with 408.
        if (!reply.sent) await sendResponse(reply, response)
      }),
    )
    return reply
  }
  const addRoute = (url: string, constraints: Readonly<Record<string, unknown>>): void => {
    const method = ['GET', 'POST', 'PUT', 'DELETE']
    fastify.route({ method, url, constraints, bodyLimit: Number.MAX_SAFE_INTEGER, handler })
  }
  addRoute('/api/apps/:app/*', {})
  for (const url of ['/api/apps/:app', '/api/apps/:app/tools/:tool']) addRoute(url, overrideConstraint)
}

/** Throws `ROUTE_NOT_FOUND`. */
export function findApp(core: Core, request: FastifyRequest): HostedApp {
  const { app: path } = request.params as { app: string }
  const { registry } = core
  const app = registry.findApp(path)
  if (app !== undefined) return app
  throw new CausewayError('ROUTE_NOT_FOUND', `no app is served at /api/apps/${path}`, {
    data: { apps: registry.apps.map(({ path }) => path) },
    remedy: 'use one of data.apps; the setting CAUSEWAY_APPS selects the apps of the server',
  })
}

export const createRestCaller = (
  request: FastifyRequest,
  reply: FastifyReply,
  { path }: HostedApp,
  channel: 'rest' | 'route' = 'rest',
): Caller => new Exchange(request, reply, createBareMount(path)).createCaller({ era: 'modern', channel })

const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

/** Ends a stream on shutdown. Streams are not in-flight requests. */
function endOnStop({ raw }: FastifyReply, stopping: AbortSignal, leave: () => void): void {
  leave()
  const end = (): void => void raw.end()
  stopping.addEventListener('abort', end, { once: true })
  raw.once('close', () => stopping.removeEventListener('abort', end))
}

function findRoute(app: HostedApp, { method, url }: FastifyRequest): RouteMatch {
  const path = getAppPath(url)
  const matches = matchRoutes(app, path)
  const match = matches.find(({ route }) => route.method === method)
  if (match !== undefined) return match
  if (matches.length === 0)
    throw new CausewayError('ROUTE_NOT_FOUND', `${app.name} serves nothing at ${path}`, {
      data: { routes: app.routes.map((route) => `${route.method} ${route.path}`) },
    })
  throw createMethodError(
    method,
    url.split('?')[0] ?? url,
    matches.map(({ route }) => route.method),
  )
}
