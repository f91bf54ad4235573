import { StringDecoder } from 'node:string_decoder'
import {
  CausewayError,
  createErrorResponse,
  errorMetaKey,
  formatErrorText,
  type Id,
  toErrorObject,
  type WireErrorCode,
} from '@causeway/protocol'
import { BridgeError } from '../errors.ts'
import type { Reply } from '../http/reply.ts'
import { createResultLine, toLine } from '../stdio/message.ts'
import { getRetryAfterMs } from './retry.ts'

export const createErrorLine = (id: Id | null, error: CausewayError): Buffer =>
  toLine(createErrorResponse(id, error))

/** For `tools/call`, returns a tool result, which the model can read; otherwise, a JSON-RPC error. */
export function createFailure(id: Id, method: string, error: CausewayError): Buffer {
  if (method !== 'tools/call') return createErrorLine(id, error)
  const object = toErrorObject(error)
  const result = {
    resultType: 'complete',
    content: [{ type: 'text', text: formatErrorText(object) }],
    isError: true,
    _meta: { [errorMetaKey]: object },
  }
  return createResultLine(id, result)
}

export function createUnreachableError(
  url: URL,
  cause: unknown,
  { waitedMs = 0, remedy }: { waitedMs?: number; remedy?: string | undefined } = {},
): CausewayError {
  return new BridgeError('SERVER_UNREACHABLE', `cannot reach the server at ${url}: ${findReason(cause)}`, {
    data: { url: String(url), cause: findReason(cause), waited_ms: waitedMs },
    ...(remedy !== undefined && { remedy }),
    cause,
  })
}

export const createTooLargeError = (size: number, limit: number): CausewayError =>
  new CausewayError('ANSWER_TOO_LARGE', `the response has ${size} bytes; the client reads at most ${limit}`, {
    data: { size_bytes: size, limit_bytes: limit },
  })

export const createBrokenStreamError = (url: URL, cause?: unknown): CausewayError =>
  new BridgeError('SERVER_UNREACHABLE', 'the connection broke before the response arrived', {
    data: { url: String(url), cause: cause === undefined ? 'stream ended' : findReason(cause) },
    remedy: 'call again; if it repeats, see the log of the server',
    cause,
  })

const statusErrors: Readonly<Record<number, readonly [WireErrorCode, string]>> = {
  400: ['INVALID_REQUEST', 'see the response of the server in data.body'],
  408: ['DEADLINE_EXCEEDED', 'call again'],
  413: ['BODY_TOO_LARGE', 'send less data, or raise the body limit of the server'],
  429: ['RATE_LIMITED', 'wait, then call again'],
  503: ['OVERLOADED', 'wait, then call again'],
  504: ['DEADLINE_EXCEEDED', 'request less data, or call again'],
}

const contentTypeRemedy =
  'report it to the authors of the bridge and of the server: their content types differ'
const pathRemedy = 'check the path of MCP_SERVER_URL, it usually is /mcp'

const invalidRemedies: Readonly<Record<number, string>> = {
  401: 'the server requires a valid token; pass a file with it: --token-file',
  403: 'the server rejects this caller; run causeway-bridge --doctor to find the reason',
  404: pathRemedy,
  405: pathRemedy,
  406: contentTypeRemedy,
  415: contentTypeRemedy,
  502: 'the server behind the proxy is not running; call again when it is',
}

/** Includes up to 2 KiB of the body if it is JSON or plain text. */
export function toStatusError(url: URL, reply: Reply): CausewayError {
  const { status, headers, size } = reply
  const location = status >= 300 && status < 400 ? resolveLocation(url, headers.location) : undefined
  const message = `the server responded with HTTP ${status}${status < 300 ? ' without a JSON-RPC message' : ''}`
  const defaultRemedy = status >= 500 ? 'see the log of the server' : 'check that MCP_SERVER_URL ends in /mcp'
  const redirectRemedy =
    location && `set MCP_SERVER_URL to the location that the server redirects to: ${location}`
  const waitMs = getRetryAfterMs(reply)
  const data = {
    url: String(url),
    http_status: status,
    content_type: String(headers['content-type'] ?? ''),
    size_bytes: size,
    ...(waitMs !== undefined && { retry_after_ms: waitMs }),
    ...(location !== undefined && { location }),
    ...readExcerpt(reply),
  }
  const statusError = statusErrors[status]
  if (statusError !== undefined)
    return new CausewayError(statusError[0], message, { data, remedy: statusError[1] })
  const code = status === 502 ? 'SERVER_UNREACHABLE' : 'SERVER_ANSWER_INVALID'
  return new BridgeError(code, message, {
    data,
    remedy: invalidRemedies[status] ?? redirectRemedy ?? defaultRemedy,
  })
}

const maxExcerptBytes = 2048

function readExcerpt({ body, headers }: Reply): { readonly body?: string } {
  const [type = ''] = String(headers['content-type'] ?? 'text/plain').split(';')
  if (body === undefined || !/^(text\/plain|application\/(\S+\+)?json)$/i.test(type.trim())) return {}
  // StringDecoder omits an incomplete character at the end.
  const text = new StringDecoder('utf8').write(body.subarray(0, maxExcerptBytes)).trim()
  return text === '' ? {} : { body: text }
}

function resolveLocation(url: URL, location: unknown): string | undefined {
  if (typeof location !== 'string' || !URL.canParse(location, String(url))) return undefined
  return String(new URL(location, url)).slice(0, maxExcerptBytes)
}

function findReason(cause: unknown): string {
  const { code, message } = cause as { code?: unknown; message?: unknown }
  return typeof code === 'string' ? code : typeof message === 'string' ? message : String(cause)
}
