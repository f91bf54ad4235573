import { readRpcError } from '@causeway/gateway'
import {
  asCausewayError,
  CausewayError,
  createErrorResponse,
  createFailure,
  type Id,
  isCausewayError,
  isObject,
  type Response,
  toErrorObject,
} from '@causeway/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Era } from '../dispatch/caller.ts'
import {
  createAbortedError,
  createTooLargeError,
  createUnsupportedTypeError,
  jsonBody,
} from './request-body.ts'

/**
 * Number for a missing resource up to MCP 2025-11-25. MCP 2026-07-28 uses the number for invalid params
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling).
 */
const legacyResourceNotFound = -32002
const modernResourceNotFound = CausewayError.definitions.INVALID_PARAMS.rpc

/** Numbers of connection errors, which concern headers, capabilities or version. */
const connectionNumbers: ReadonlySet<number> = new Set([-32020, -32021, -32022])

export function toErrorResponse(id: Id | null, error: CausewayError, era: Era): Response {
  const upstream = forwardRpcError(id, error, era)
  if (upstream !== undefined) return upstream
  const response = addCapabilities(createErrorResponse(id, error), error)
  return era === 'legacy' ? useLegacyNumber(response) : response
}

/** Returns a hosted server's error with Causeway's members; `undefined` for a connection error. */
function forwardRpcError(id: Id | null, error: CausewayError, era: Era): Response | undefined {
  const rpc = readRpcError(error)
  if (rpc === undefined || connectionNumbers.has(rpc.code)) return undefined
  const { code, message, data = {} } = rpc
  const number = era === 'modern' && code === legacyResourceNotFound ? modernResourceNotFound : code
  return createFailure(id, number, message, isObject(data) ? { ...toErrorObject(error), ...data } : data)
}

/** Clients of MCP 2026-07-28 read missing capabilities at the top level of `data`. */
function addCapabilities(response: Response, { data: { requiredCapabilities } }: CausewayError): Response {
  if (requiredCapabilities === undefined || !('error' in response)) return response
  const { error } = response
  return { ...response, error: { ...error, data: { ...(error.data as object), requiredCapabilities } } }
}

export function useLegacyNumber<T extends object>(message: T): T {
  const { error } = message as {
    error?: { data?: { code?: unknown; data?: { rpc?: { code?: unknown } } } }
  }
  const isUpstream = error?.data?.data?.rpc?.code === legacyResourceNotFound
  if (error?.data?.code !== 'RESOURCE_NOT_FOUND' && !isUpstream) return message
  return { ...message, error: { ...error, code: legacyResourceNotFound } }
}

/** Logs defects and converts them to `INTERNAL`. */
export function toClientError(error: unknown, log: Logger, requestId: string): CausewayError {
  if (!isCausewayError(error) || error.code === 'INTERNAL')
    log.error({ err: error, request_id: requestId }, 'a request failed unexpectedly')
  return asCausewayError(error)
}

/** Thrown errors are sent as error objects by default. */
export function addErrorHandler(
  scope: FastifyInstance,
  log: Logger,
  encode: (error: CausewayError, request: FastifyRequest) => object = toErrorObject,
): void {
  scope.setErrorHandler((cause, request, reply) => {
    const error = convertFastifyError(cause, request) ?? toClientError(cause, log, request.id)
    return setStatus(reply, error).send(encode(error, request))
  })
}

/** Handles paths that Fastify rejects before routing. */
export function sendPathError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const causewayError = convertFastifyError(error, request) ?? asCausewayError(error)
  setStatus(reply, causewayError).send(toErrorObject(causewayError))
}

export const setStatus = (reply: FastifyReply, error: CausewayError): FastifyReply =>
  reply.code(error.definition.status).headers(getErrorHeaders(error))

export function getErrorHeaders({
  code,
  data,
}: Pick<CausewayError, 'code' | 'data'>): Record<string, string> {
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

/** See https://fastify.dev/docs/latest/Reference/Errors/. */
function convertFastifyError(
  error: unknown,
  { headers, routeOptions, url }: FastifyRequest,
): CausewayError | undefined {
  const { code, message } = error as { code?: unknown; message?: unknown }
  switch (code) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new CausewayError('PARSE_ERROR', 'the body is not JSON', {
        data: { reason: String(message) },
        // The default remedy is for JSON-RPC.
        ...(url.startsWith('/api/') ? { remedy: 'send a JSON object as UTF-8, such as {}' } : {}),
      })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return createUnsupportedTypeError(headers['content-type'], jsonBody.accepts)
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return createTooLargeError(routeOptions.bodyLimit ?? Number.NaN)
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new CausewayError('INVALID_REQUEST', 'the body is not as long as Content-Length says')
    case 'ECONNRESET':
      return createAbortedError()
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new CausewayError('ROUTE_NOT_FOUND', `nothing is served at ${url}`)
    default:
      return undefined
  }
}
