/** Routes by path: what is served there, and 405 for the rest. */
import { CausewayError } from '@causeway/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { checkBodyHeaders, jsonBody } from './request-body.ts'

/** HTTP methods that a route may have, or be refused under. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** One of them. */
export type Method = (typeof methods)[number]

/** Answers a request; what it returns is sent. */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Serves a path under the given methods; the others are `METHOD_NOT_ALLOWED`, with `Allow`. */
export function serve(
  fastify: FastifyInstance,
  url: string,
  handlers: Partial<Record<Method, Handler>>,
): void {
  const allow = methods.filter((method) => method in handlers)
  for (const method of allow)
    fastify.route({ method, url, onRequest: acceptJson, handler: handlers[method] as Handler })
  fastify.route({
    method: methods.filter((method) => !(method in handlers)),
    url,
    // Refused before a body is read or judged.
    onRequest: async ({ method }) => {
      throw methodNotAllowed(method, url, allow)
    },
    handler: async () => undefined,
  })
}

/** Rejects a body that is not JSON before it is read. */
const acceptJson: onRequestHookHandler = ({ headers }, _reply, done) => {
  checkBodyHeaders(headers, jsonBody)
  done()
}

/** The error for a method that a path does not serve. */
export const methodNotAllowed = (method: string, path: string, allow: readonly string[]): CausewayError =>
  new CausewayError('METHOD_NOT_ALLOWED', `${method} is not served at ${path}`, { data: { allow } })
