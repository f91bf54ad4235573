import { CausewayError } from '@causeway/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { checkBodyHeaders, jsonBody } from './request-body.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

type Method = (typeof methods)[number]

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Other methods get `METHOD_NOT_ALLOWED`. */
export function addRoutes(
  fastify: FastifyInstance,
  url: string,
  handlers: Partial<Record<Method, Handler>>,
): void {
  const allow = methods.filter((method) => method in handlers)
  for (const method of allow)
    fastify.route({ method, url, onRequest: checkJsonBody, handler: handlers[method] as Handler })
  fastify.route({
    method: methods.filter((method) => !(method in handlers)),
    url,
    // This hook runs before the body is read.
    onRequest: async ({ method }) => {
      throw createMethodError(method, url, allow)
    },
    handler: async () => undefined,
  })
}

/** Rejects bodies that are not JSON before they are read. */
const checkJsonBody: onRequestHookHandler = ({ headers }, _reply, done) => {
  checkBodyHeaders(headers, jsonBody)
  done()
}

export const createMethodError = (method: string, path: string, allow: readonly string[]): CausewayError =>
  new CausewayError('METHOD_NOT_ALLOWED', `${method} is not served at ${path}`, { data: { allow } })
