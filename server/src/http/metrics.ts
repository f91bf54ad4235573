/** `GET /metrics`: numbers for Prometheus. */
import type { FastifyInstance } from 'fastify'
import { serve } from './serve.ts'
import type { Wiring } from './wiring.ts'

/** Declares the route. */
export function metricsRoute(fastify: FastifyInstance, { core }: Wiring): void {
  serve(fastify, '/metrics', {
    GET: async (_request, reply) => {
      const { contentType, text } = await core.metrics()
      return reply.type(contentType).send(text)
    },
  })
}
