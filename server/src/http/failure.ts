/** Failures on their way out: Fastify's own become coded ones, unknown ones are logged and hidden. */
import {
  asCausewayError,
  CausewayError,
  errorObject,
  failureOf,
  idOf,
  isCausewayError,
  type Response,
  rowOf,
} from '@causeway/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Era } from '../core.ts'
import { bodyTooLarge, jsonBody, unsupportedType } from './request-body.ts'

/**
 * MCP 2025-11-25 gives a missing resource a number of its own, MCP 2026-07-28 folds it into invalid params
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling).
 */
const legacyResourceNotFound = -32002

/** A coded error as the JSON-RPC answer of an era. */
export function rpcFailure(id: Parameters<typeof failureOf>[0], error: CausewayError, era: Era): Response {
  const answer = withRequired(failureOf(id, error), error)
  return era === 'legacy' ? withLegacyNumber(answer) : answer
}

/** A capability that a client lacks is named where MCP 2026-07-28 wants it, beside what every error has. */
function withRequired(answer: Response, { data: { requiredCapabilities } }: CausewayError): Response {
  if (requiredCapabilities === undefined || !('error' in answer)) return answer
  const { error } = answer
  return { ...answer, error: { ...error, data: { ...(error.data as object), requiredCapabilities } } }
}

/** A failed answer under the number of its era, where that differs; any other message as it is. */
export function withLegacyNumber<T extends object>(message: T): T {
  const { error } = message as { error?: { data?: { code?: unknown } } }
  if (error?.data?.code !== 'RESOURCE_NOT_FOUND') return message
  return { ...message, error: { ...error, code: legacyResourceNotFound } }
}

/** A thrown value as what may be told; what has no code, and what a worker found to be a defect, is
 * logged here with its stack, and told as `INTERNAL`. */
export function tellable(error: unknown, log: Logger, requestId: string): CausewayError {
  if (!isCausewayError(error) || error.code === 'INTERNAL')
    log.error({ err: error, request_id: requestId }, 'a request failed unexpectedly')
  return asCausewayError(error)
}

/** Answers errors of a scope as plain error objects, with the status of the error table. */
export function tellAsObjects(scope: FastifyInstance, log: Logger): void {
  scope.setErrorHandler((thrown, request, reply) => {
    const error = ofFastify(thrown, request) ?? tellable(thrown, log, request.id)
    return withStatus(reply, error).send(errorObject(error))
  })
}

/** Answers errors of a scope as JSON-RPC errors under the id of the message, if it could be read. */
export function tellAsMessages(scope: FastifyInstance, log: Logger): void {
  scope.setErrorHandler((thrown, request, reply) => {
    const error = ofFastify(thrown, request) ?? tellable(thrown, log, request.id)
    return withStatus(reply, error).send(rpcFailure(idOf(request.body), error, 'modern'))
  })
}

/** Answers a request whose path Fastify could not even look up. */
export function tellBadPath(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const coded = ofFastify(error, request) ?? asCausewayError(error)
  withStatus(reply, coded).send(errorObject(coded))
}

const withStatus = (reply: FastifyReply, error: CausewayError): FastifyReply =>
  reply.code(rowOf(error.code).http).headers(headersOf(error))

/** Returns the response headers of an error: what is accepted instead, and when to retry. */
export function headersOf({ code, data }: Pick<CausewayError, 'code' | 'data'>): Record<string, string> {
  if (code === 'METHOD_NOT_ALLOWED' && Array.isArray(data.allow)) return { allow: data.allow.join(', ') }
  if (code === 'UNSUPPORTED_MEDIA_TYPE' && Array.isArray(data.accepted))
    return { accept: data.accepted.join(', ') }
  if (code === 'UNSUPPORTED_MEDIA_TYPE' && Array.isArray(data.supported))
    return { 'accept-encoding': data.supported.join(', ') }
  if (code === 'UNAUTHORIZED') return { 'www-authenticate': 'Bearer realm="causeway"' }
  if (code === 'REQUEST_TIMEOUT') return { connection: 'close' }
  if (code === 'SHUTTING_DOWN') return { connection: 'close', 'retry-after': '1' }
  if (typeof data.retry_after_ms === 'number')
    return { 'retry-after': String(Math.ceil(data.retry_after_ms / 1000)) }
  return {}
}

/** The coded error behind one of Fastify's own (https://fastify.dev/docs/latest/Reference/Errors/). */
function ofFastify(
  error: unknown,
  { headers, routeOptions, url }: FastifyRequest,
): CausewayError | undefined {
  const { code, message } = error as { code?: unknown; message?: unknown }
  switch (code) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new CausewayError('PARSE_ERROR', 'the body is not JSON', { data: { reason: String(message) } })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return unsupportedType(headers['content-type'], jsonBody.accepts)
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(routeOptions.bodyLimit ?? Number.NaN) // it has one, which was met
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new CausewayError('INVALID_REQUEST', 'the body is not as long as Content-Length says')
    case 'ECONNRESET':
      // Nobody is left to read the answer, and nothing here is at fault.
      return new CausewayError('CANCELLED', 'the caller hung up before its request was whole')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new CausewayError('ROUTE_NOT_FOUND', `nothing is served at ${url}`)
    default:
      return undefined
  }
}
