import { StringDecoder } from 'node:string_decoder'
import {
  CausewayError,
  type ErrorCode,
  errorMetaKey,
  errorObject,
  errorText,
  failureOf,
  type Id,
  success,
} from '@causeway/protocol'
import type { Reply } from './reply.ts'
import { retryAfterMs } from './retry.ts'

/** A coded error as the line that answers a request. */
export const errorLine = (id: Id | null, error: CausewayError): Buffer =>
  Buffer.from(JSON.stringify(failureOf(id, error)))

/** An error as the failed answer of a tool, which the model gets to read; other methods get a JSON-RPC error. */
export function failedCall(id: Id, method: string, error: CausewayError): Buffer {
  if (method !== 'tools/call') return errorLine(id, error)
  const object = errorObject(error)
  const result = {
    resultType: 'complete',
    content: [{ type: 'text', text: errorText(object) }],
    isError: true,
    _meta: { [errorMetaKey]: object },
  }
  return Buffer.from(JSON.stringify(success(id, result)))
}

/** No connection, or one that broke before an answer. */
export function unreachable(
  url: URL,
  cause: unknown,
  { waitedMs = 0, remedy }: { waitedMs?: number; remedy?: string | undefined } = {},
): CausewayError {
  return new CausewayError('SERVER_UNREACHABLE', `cannot reach the server at ${url}: ${reasonOf(cause)}`, {
    data: { url: String(url), cause: reasonOf(cause), waited_ms: waitedMs },
    ...(remedy !== undefined && { remedy }),
    cause,
  })
}

/** An answer that is longer than the client would read. */
export const tooLarge = (size: number, limit: number): CausewayError =>
  new CausewayError('ANSWER_TOO_LARGE', `the answer has ${size} bytes, the client reads ${limit} at most`, {
    data: { size_bytes: size, limit_bytes: limit },
  })

/** The stream of the answer ended or broke without it. */
export const brokenStream = (url: URL, cause?: unknown): CausewayError =>
  new CausewayError('SERVER_UNREACHABLE', 'the connection broke before the answer came', {
    data: { url: String(url), cause: cause === undefined ? 'stream ended' : reasonOf(cause) },
    remedy: 'call again; if it repeats, see the log of the server',
    cause,
  })

/** What an HTTP status means for the person who set up the bridge; others are a wrong answer. */
const statuses: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  400: ['INVALID_REQUEST', 'see what the server says in data.body'],
  401: ['SERVER_ANSWER_INVALID', 'the server wants a token, or another one; give it in a file: --token-file'],
  403: ['SERVER_ANSWER_INVALID', 'the server refuses this caller; causeway-bridge --doctor says why'],
  404: ['SERVER_ANSWER_INVALID', 'check the path of MCP_SERVER_URL, it usually is /mcp'],
  405: ['SERVER_ANSWER_INVALID', 'check the path of MCP_SERVER_URL, it usually is /mcp'],
  406: [
    'SERVER_ANSWER_INVALID',
    'report it to the authors of the bridge and of the server: they do not agree on types',
  ],
  408: ['DEADLINE_EXCEEDED', 'call again'],
  413: ['BODY_TOO_LARGE', 'send less at once, or raise the body limit of the server'],
  415: [
    'SERVER_ANSWER_INVALID',
    'report it to the authors of the bridge and of the server: they do not agree on types',
  ],
  429: ['RATE_LIMITED', 'wait, then call again'],
  502: ['SERVER_UNREACHABLE', 'the server behind the proxy is down; call again when it is up'],
  503: ['OVERLOADED', 'wait, then call again'],
  504: ['DEADLINE_EXCEEDED', 'ask for less at once, or call again'],
}

/** An HTTP answer that holds no JSON-RPC message: the status decides, the page in the body is not shown. */
export function statusError(url: URL, reply: Reply): CausewayError {
  const { status, headers, size } = reply
  const location = status >= 300 && status < 400 ? locationIn(url, headers.location) : undefined
  const what = `the server answered HTTP ${status}${status < 300 ? ' without a JSON-RPC message' : ''}`
  const elsewhere = status >= 500 ? 'see the log of the server' : 'check that MCP_SERVER_URL ends in /mcp'
  const moved = location && `set MCP_SERVER_URL to where the server points to: ${location}`
  const [code, remedy] = statuses[status] ?? ['SERVER_ANSWER_INVALID', moved ?? elsewhere]
  const waitMs = retryAfterMs(reply)
  return new CausewayError(code, what, {
    data: {
      url: String(url),
      http_status: status,
      content_type: String(headers['content-type'] ?? ''),
      size_bytes: size,
      ...(waitMs !== undefined && { retry_after_ms: waitMs }),
      ...(location !== undefined && { location }),
      ...bodyIn(reply),
    },
    remedy,
  })
}

const shownBytes = 2048

/** The beginning of a body that a person can read; a page is made for browsers. */
function bodyIn({ body, headers }: Reply): { readonly body?: string } {
  const [type = ''] = String(headers['content-type'] ?? 'text/plain').split(';')
  if (body === undefined || !/^(text\/plain|application\/(\S+\+)?json)$/i.test(type.trim())) return {}
  // A character that the limit cuts is left out.
  const text = new StringDecoder('utf8').write(body.subarray(0, shownBytes)).trim()
  return text === '' ? {} : { body: text }
}

/** Where an answer points to, as a whole URL. */
function locationIn(url: URL, location: unknown): string | undefined {
  if (typeof location !== 'string' || !URL.canParse(location, String(url))) return undefined
  return String(new URL(location, url)).slice(0, shownBytes)
}

/** The short reason in a network error: its code where there is one. */
function reasonOf(cause: unknown): string {
  const { code, message } = cause as { code?: unknown; message?: unknown }
  return typeof code === 'string' ? code : typeof message === 'string' ? message : String(cause)
}
