import { CausewayError } from '@causeway/protocol'
import type { FastifyInstance } from 'fastify'
import { reportAppHealth } from '../../monitoring/health.ts'
import { isAliasRequest } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import { addRoutes } from '../routes.ts'

/** `/health`: 200 while calls are accepted, even if an app is degraded, and 503 while the server stops. */
export function addOperationsRoutes(fastify: FastifyInstance, { core, inFlight }: HttpServices): void {
  addRoutes(fastify, '/health', {
    GET: async (_request, reply) => {
      const report = await core.health()
      return inFlight.isStopping ? reply.code(503).send({ ...report, status: 'stopping' }) : report
    },
  })
  addRoutes(fastify, '/health/:app', {
    GET: async (request, reply) => {
      const { app: path } = request.params as { app: string }
      const instance = core.host.instances.find((candidate) => candidate.path === path)
      if (instance === undefined) throw new CausewayError('ROUTE_NOT_FOUND', `no app is served at ${path}`)
      const { status: appStatus, ...details } = await reportAppHealth(instance, core.storage)
      const status = inFlight.isStopping ? 'stopping' : appStatus
      return reply.code(status === 'ok' ? 200 : 503).send({
        status,
        server: instance.app.service ?? path,
        mcp_endpoint: isAliasRequest(request) ? '/mcp' : `/mcp/${path}`,
        port: request.socket.localPort,
        ...details,
      })
    },
  })
  addRoutes(fastify, '/metrics', {
    GET: async (_request, reply) => {
      const { contentType, text } = await core.metrics.render()
      return reply.type(contentType).send(text)
    },
  })
}
