/** An app's own routes, below `/api/apps/<app>/`: web-standard functions, bodies streaming both ways. */
import type { Readable } from 'node:stream'
import { CausewayError, checkJson } from '@causeway/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { HostedApp } from '../core.ts'
import { scopeOfMethod } from '../domain/access.ts'
import { channelTask } from '../limit/task.ts'
import { appOf, restCaller } from './hosted-app.ts'
import { type FoundRoute, ownConstraint, pathInApp, routesAt } from './own-route.ts'
import { checkBodyHeaders, readBody } from './request-body.ts'
import { type Handler, methodNotAllowed } from './serve.ts'
import { sendWeb, webRequest } from './web.ts'
import type { Wiring } from './wiring.ts'

/**
 * Declares one wildcard, and the places of the server's that an app may take; which routes there are is asked anew for
 * each request.
 */
export function appRoutes(fastify: FastifyInstance, { core, inflight, stopping }: Wiring): void {
  // The route declares which types it accepts, and whether it reads a body of any size as it arrives.
  const limit = { bytes: fastify.initialConfig.bodyLimit ?? Number.POSITIVE_INFINITY }
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (_request, body, done) => done(null, body))
  const handler: Handler = async (request, reply) => {
    const app = appOf(core, request)
    const { route, variables } = routeOf(app, request)
    checkBodyHeaders(request.headers, route.body)
    const ofRequest = restCaller(request, reply, app, 'route')
    const caller = { ...ofRequest, signal: AbortSignal.any([ofRequest.signal, stopping]) }
    const stream = request.body as Readable | undefined // of the parser above
    const body = route.streams === true || stream === undefined ? stream : await readBody(stream, limit)
    // The app parses it.
    if (Buffer.isBuffer(body) && route.body.accepts.includes('application/json')) checkJson(body)
    const asked = webRequest(request, { signal: caller.signal, ...(body === undefined ? {} : { body }) })
    const task = channelTask('route', route.scope ?? scopeOfMethod(route.method))
    await inflight.run((leave) =>
      // The answer streams inside the context: the session is saved and the call is timed at its end.
      core.withContext(app.path, caller, task, async (ctx) => {
        const response = await route.handle(asked, variables, ctx)
        if (isEventStream(response)) endWhenStopping(reply, stopping, leave)
        // A body that stalled has been answered with 408.
        if (!reply.sent) await sendWeb(reply, response)
      }),
    )
    return reply
  }
  const declare = (url: string, constraints: Readonly<Record<string, unknown>>): void => {
    const method = ['GET', 'POST', 'PUT', 'DELETE']
    fastify.route({ method, url, constraints, bodyLimit: Number.MAX_SAFE_INTEGER, handler })
  }
  declare('/api/apps/:app/*', {})
  for (const url of ['/api/apps/:app', '/api/apps/:app/tools/:tool']) declare(url, ownConstraint)
}

/** A stream of events has no end of its own. */
const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

function endWhenStopping({ raw }: FastifyReply, stopping: AbortSignal, leave: () => void): void {
  leave()
  const end = (): void => void raw.end()
  stopping.addEventListener('abort', end, { once: true })
  raw.once('close', () => stopping.removeEventListener('abort', end))
}

/** The route of a path and method; throws `ROUTE_NOT_FOUND` or `METHOD_NOT_ALLOWED`. */
function routeOf(app: HostedApp, { method, url }: FastifyRequest): FoundRoute {
  const path = pathInApp(url)
  const fitting = routesAt(app, path)
  const found = fitting.find(({ route }) => route.method === method)
  if (found !== undefined) return found
  if (fitting.length === 0)
    throw new CausewayError('ROUTE_NOT_FOUND', `${app.name} serves nothing at ${path}`, {
      data: { routes: app.routes.map((route) => `${route.method} ${route.path}`) },
    })
  throw methodNotAllowed(
    method,
    url.split('?')[0] ?? url,
    fitting.map(({ route }) => route.method),
  )
}
