import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../access/access.ts'
import { hasBody } from '../request-body.ts'
import type { Admission } from './admission.ts'
import type { StalledBodies } from './stalled-bodies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    access: Access | undefined
  }

  interface FastifyContextConfig {
    /** Whether a route needs no token, because its responses contain no data. */
    isPublic?: boolean
  }
}

const exposedHeaders = [
  'Mcp-Session-Id',
  'Mcp-Protocol-Version',
  'Causeway-Request',
  'Retry-After',
  'WWW-Authenticate',
  'Allow',
  'Accept',
  'Accept-Encoding',
].join(', ')

/** Chromium's maximum, in seconds. */
const preflightMaxAge = '7200'

export function guard(
  fastify: FastifyInstance,
  { admission, stalledBodies }: { admission: Admission; stalledBodies: StalledBodies },
): void {
  // Hooks have a callback, because a promise would cost more than the checks.
  fastify.decorateRequest('access', undefined)
  fastify.addHook('onRequest', (request, reply, done) => {
    let rejection: Error | undefined
    reply.header('vary', 'Origin')
    // Also watches rejected requests, whose body could keep the connection open.
    if (hasBody(request.headers)) stalledBodies.watch(request.raw, (error) => fail(request, reply, error))
    try {
      if (isPreflight(request)) {
        admission.checkPreflight(request)
        sendPreflight(request, reply)
        return
      }
      admit(request, reply, admission)
      // Destroys the response, because its status may have been sent.
      if (request.access !== undefined)
        reply.raw.once(
          'close',
          admission.watch(request, () => reply.raw.destroy()),
        )
    } catch (error) {
      rejection = error as Error
    }
    done(rejection)
  })
}

function fail({ raw }: FastifyRequest, reply: FastifyReply, error: Error): void {
  if (reply.sent || reply.raw.headersSent) raw.destroy()
  else reply.send(error)
}

function admit(request: FastifyRequest, reply: FastifyReply, admission: Admission): void {
  const { origin } = request.headers
  // A trusted page must be able to read a 401.
  if (origin !== undefined && admission.trustsOrigin(origin)) allowOrigin(reply, origin)
  request.access = admission.admit(request, { isPublic: request.routeOptions.config.isPublic === true })
  if (origin !== undefined) allowOrigin(reply, origin)
}

const allowOrigin = (reply: FastifyReply, origin: string): FastifyReply =>
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders })

/** See https://fetch.spec.whatwg.org/#cors-preflight-fetch. */
const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined

/** Permits everything, because the following request is checked. */
function sendPreflight({ headers }: FastifyRequest, reply: FastifyReply): void {
  const requestedHeaders = headers['access-control-request-headers']
  reply
    .code(204)
    .headers({
      vary: 'Origin, Access-Control-Request-Headers',
      'access-control-allow-origin': headers.origin,
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      'access-control-max-age': preflightMaxAge,
      ...(requestedHeaders === undefined ? {} : { 'access-control-allow-headers': requestedHeaders }),
    })
    .send()
}
