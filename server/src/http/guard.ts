/** Admits every request before it is routed, rechecks long responses while they last, and answers CORS. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../domain/access.ts'
import type { Admission } from './admission.ts'
import type { Recheck } from './recheck.ts'
import { hasBody } from './request-body.ts'
import type { StalledBodies } from './stalled-bodies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the caller's token permits; `undefined` if no token is required. */
    access: Access | undefined
  }
}

/** Response headers that pages of other origins may read. */
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

/** How long a browser caches a preflight, in seconds. Chromium's maximum. */
const preflightMaxAge = '7200'

/** The checks of a request. */
export interface Guards {
  readonly admission: Admission
  readonly recheck: Recheck
  readonly stalledBodies: StalledBodies
}

/** Installs the checks of every request that Fastify receives. */
export function guard(fastify: FastifyInstance, { admission, recheck, stalledBodies }: Guards): void {
  // Callbacks: a promise for each hook of each request would cost more than the checks.
  fastify.decorateRequest('access', undefined)
  fastify.addHook('onRequest', (request, reply, done) => {
    let refusal: Error | undefined
    reply.header('vary', 'Origin')
    // Before anything is refused: a client could also hold a connection with the body of a refused request.
    if (hasBody(request.headers)) stalledBodies.watch(request.raw, (error) => fail(request, reply, error))
    try {
      if (isPreflight(request)) {
        admission.checkPreflight(request)
        sendPreflight(request, reply)
        return
      }
      admit(request, reply, admission)
      // The status may have been sent: closing the connection is the only signal left.
      if (request.access !== undefined)
        reply.raw.once(
          'close',
          recheck.watch(request.headers, () => reply.raw.destroy()),
        )
    } catch (error) {
      refusal = error as Error
    }
    done(refusal)
  })
}

/** Responds with an error, or closes the connection of a request that has its response. */
function fail({ raw }: FastifyRequest, reply: FastifyReply, error: Error): void {
  if (reply.sent) raw.destroy()
  else reply.send(error)
}

/** Admits a request, and lets the page that sent it read the response. */
function admit(request: FastifyRequest, reply: FastifyReply, admission: Admission): void {
  const { origin } = request.headers
  // Before the token is checked: a trusted page must be able to read a 401.
  if (origin !== undefined && admission.trustsOrigin(origin)) shareWith(reply, origin)
  request.access = admission.admit(request)
  if (origin !== undefined) shareWith(reply, origin)
}

const shareWith = (reply: FastifyReply, origin: string): FastifyReply =>
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedHeaders })

/** Whether a browser asks for permission to send the actual request (https://fetch.spec.whatwg.org/#cors-preflight-fetch). */
const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined

/** Permits every method and header: what the actual request may do is decided when it arrives. */
function sendPreflight({ headers }: FastifyRequest, reply: FastifyReply): void {
  const requested = headers['access-control-request-headers']
  reply
    .code(204)
    .headers({
      vary: 'Origin, Access-Control-Request-Headers',
      'access-control-allow-origin': headers.origin,
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      'access-control-max-age': preflightMaxAge,
      ...(requested === undefined ? {} : { 'access-control-allow-headers': requested }),
    })
    .send()
}
