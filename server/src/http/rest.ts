/** Plain HTTP for scripts: the apps, their tools by POST, their own routes, the registry. */
import { type ErrorObject, errorMetaKey, rowOf } from '@causeway/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Core, HostedApp } from '../core.ts'
import { refuseForbidden } from '../scope.ts'
import { appRoutes } from './app-route.ts'
import { headersOf, tellAsObjects } from './failure.ts'
import { appOf, restCaller } from './hosted-app.ts'
import { openApi } from './openapi.ts'
import { serve } from './serve.ts'
import type { Wiring } from './wiring.ts'

/** Declares the routes below `/api`, and `/openapi.json`. */
export function restRoutes(fastify: FastifyInstance, wiring: Wiring): void {
  const { core, inflight } = wiring
  tellAsObjects(fastify, wiring.log)
  serve(fastify, '/api/apps', {
    GET: async () => ({ apps: core.apps().map(summary) }),
  })
  serve(fastify, '/api/apps/:app', {
    GET: async (request) => detail(appOf(core, request)),
  })
  serve(fastify, '/api/apps/:app/tools/:tool', {
    POST: (request, reply) => inflight.run(() => callTool(core, request, reply)),
  })
  serve(fastify, '/api/registry/refresh', {
    POST: (request) => {
      refuseForbidden('causeway', request, { needs: 'write', what: 'refresh' })
      return inflight.run(() => core.refresh())
    },
  })
  serve(fastify, '/openapi.json', {
    GET: async () => openApi(core),
  })
  fastify.register(async (scope) => appRoutes(scope, wiring))
}

/** The answer's data with 200, or the error object with the status of its code. */
async function callTool(core: Core, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const app = appOf(core, request)
  const { tool } = request.params as { tool: string } // of the pattern above
  const caller = restCaller(request, reply, app)
  const answer = await core.callTool(app.path, tool, request.body ?? {}, caller)
  if (answer.isError !== true) return answer.structuredContent
  const error = answer._meta?.[errorMetaKey] as ErrorObject // every failed answer carries it
  return reply.code(rowOf(error.code).http).headers(headersOf(error)).send(error)
}

const summary = ({ name, path, about, tools }: HostedApp) => ({
  name,
  about,
  href: `/api/apps/${path}`,
  tools: tools.map((tool) => ({ name: tool.name, about: tool.about })),
})

const detail = ({ name, path, about, tools, routes, sockets }: HostedApp) => ({
  name,
  about,
  mcp: `/mcp/${path}`,
  tools: tools.map((tool) => ({
    name: tool.name,
    about: tool.about,
    href: `/api/apps/${path}/tools/${tool.name}`,
    input_schema: tool.inputSchema,
    output_schema: tool.outputSchema,
    example: tool.example.args,
  })),
  routes: routes.map((route) => ({
    method: route.method,
    href: `/api/apps/${path}${route.path}`,
    about: route.about,
  })),
  sockets: sockets.map((socket) => ({ href: `/api/apps/${path}${socket.path}`, about: socket.about })),
})
