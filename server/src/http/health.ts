/** `GET /health`: is it ready, which version, where is its data. `/health/<app>`: the same of one app, as of a server. */
import type { AddressInfo } from 'node:net'
import { CausewayError } from '@causeway/protocol'
import type { FastifyInstance } from 'fastify'
import { serve } from './serve.ts'
import type { Wiring } from './wiring.ts'

/** Declares the routes. 200 while calls are taken, degraded apps included; 503 once the server is stopping. */
export function healthRoute(fastify: FastifyInstance, { core, inflight }: Wiring): void {
  serve(fastify, '/health', {
    GET: async (_request, reply) => {
      const report = await core.health()
      return inflight.isStopping ? reply.code(503).send({ ...report, status: 'stopping' }) : report
    },
  })
  serve(fastify, '/health/:app', {
    GET: async (request, reply) => {
      const { app: path } = request.params as { app: string } // of the pattern above
      const app = core.apps().find((one) => one.path === path)
      if (app === undefined) throw new CausewayError('ROUTE_NOT_FOUND', `no app is served at ${path}`)
      const { status, ...details } = await core.appHealth(path)
      const { localPort: port } = request.socket
      const isOwnPort = port !== (fastify.server.address() as AddressInfo).port // it listens
      const told = inflight.isStopping ? 'stopping' : status
      return reply.code(told === 'ok' ? 200 : 503).send({
        status: told,
        server: app.service ?? path,
        mcp_endpoint: isOwnPort ? '/mcp' : `/mcp/${path}`,
        port,
        ...details,
      })
    },
  })
}
