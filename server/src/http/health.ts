/** `GET /health`: is it ready, which version, where is its data. */
import type { FastifyInstance } from 'fastify'
import { serve } from './serve.ts'
import type { Wiring } from './wiring.ts'

/** Declares the route. 200 while calls are taken, degraded apps included; 503 once the server is stopping. */
export function healthRoute(fastify: FastifyInstance, { core, inflight }: Wiring): void {
  serve(fastify, '/health', {
    GET: async (_request, reply) => {
      const report = await core.health()
      return inflight.isStopping ? reply.code(503).send({ ...report, status: 'stopping' }) : report
    },
  })
}
