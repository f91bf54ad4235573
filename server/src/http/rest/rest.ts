import { CausewayError, isCausewayError, toErrorObject } from '@causeway/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkAccess } from '../../dispatch/call-runner.ts'
import type { Core } from '../../host/core.ts'
import type { HostedApp } from '../../registry/registry.ts'
import { addAppRoutes, createRestCaller, findApp } from '../app-routes/app-routes.ts'
import { addErrorHandler, setStatus } from '../error-responses.ts'
import type { HttpServices } from '../http-services.ts'
import { addRoutes } from '../routes.ts'
import { describeApi } from './openapi.ts'
import { findPicture, LatestPictures, shouldSendPicture, type ToolPicture } from './pictures.ts'

export function addRestRoutes(fastify: FastifyInstance, services: HttpServices): void {
  const { core, inFlight } = services
  const pictures = new LatestPictures()
  addErrorHandler(fastify, services.log)
  addRoutes(fastify, '/api/apps', {
    GET: async () => ({ apps: core.registry.apps.map(summarizeApp) }),
  })
  addRoutes(fastify, '/api/apps/:app', {
    GET: async (request) => describeApp(findApp(core, request)),
  })
  addRoutes(fastify, '/api/apps/:app/tools/:tool', {
    POST: (request, reply) => inFlight.run(() => callTool({ core, pictures }, request, reply)),
  })
  addRoutes(fastify, '/api/apps/:app/pictures/:picture', {
    GET: async (request, reply) => {
      const { mimeType, bytes } = readPicture({ core, pictures }, request)
      return reply.type(mimeType).header('cache-control', 'private, max-age=3600').send(bytes)
    },
  })
  addRoutes(fastify, '/api/registry/refresh', {
    POST: (request) => {
      checkAccess(request.access, 'causeway', { scope: 'write', name: 'refresh' })
      return inFlight.run(() => core.registry.refresh())
    },
  })
  addRoutes(fastify, '/openapi.json', {
    GET: async () => describeApi(core),
  })
  fastify.register(async (scope) => addAppRoutes(scope, services))
}

interface RestServices {
  readonly core: Core
  readonly pictures: LatestPictures
}

/**
 * Returns the structured result with a picture's URL, the picture itself if the client prefers it, or the
 * error object.
 */
async function callTool(
  { core, pictures }: RestServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const app = findApp(core, request)
  const { tool } = request.params as { tool: string }
  const caller = createRestCaller(request, reply, app)
  try {
    const result = await core.callTool(app.path, tool, request.body ?? {}, caller)
    const picture = findPicture(result)
    if (picture === undefined) return result.structuredContent
    const url = pictures.add(app.path, picture)
    if (!shouldSendPicture(request.headers.accept, picture.mimeType))
      return { ...result.structuredContent, picture_url: url }
    return reply.type(picture.mimeType).header('content-location', url).send(picture.bytes)
  } catch (error) {
    if (!isCausewayError(error)) throw error
    return setStatus(reply, error).send(toErrorBody(error, app))
  }
}

function toErrorBody(error: CausewayError, { errorBody }: HostedApp): object {
  const object = toErrorObject(error)
  return { ...object, ...errorBody?.(object) }
}

function readPicture({ core, pictures }: RestServices, request: FastifyRequest): ToolPicture {
  const { path } = findApp(core, request)
  checkAccess(request.access, path, { scope: 'read', name: 'picture' })
  const { picture: id } = request.params as { picture: string }
  const picture = pictures.find(path, id)
  if (picture !== undefined) return picture
  throw new CausewayError('RESOURCE_NOT_FOUND', `no such picture of ${path}: ${id}`, {
    remedy: 'call the tool again; only the latest pictures are stored',
    data: { picture: id },
  })
}

export const summarizeApp = ({ name, path, about, tools }: HostedApp) => ({
  name,
  about,
  href: `/api/apps/${path}`,
  tools: tools.map(({ name, about, unlisted }) => ({ name, about, ...(unlisted ? { unlisted } : {}) })),
})

export const describeApp = ({ name, path, about, tools, routes, sockets }: HostedApp) => ({
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
    read_only: tool.annotations.readOnlyHint === true,
    destructive: tool.annotations.destructiveHint === true,
  })),
  routes: routes.map((route) => ({
    method: route.method,
    href: `/api/apps/${path}${route.path}`,
    about: route.about,
  })),
  sockets: sockets.map((socket) => ({ href: `/api/apps/${path}${socket.path}`, about: socket.about })),
})
