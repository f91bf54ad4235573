import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { RouteBody } from '@causeway/app-kit'
import { CausewayError, checkJson } from '@causeway/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'

export const jsonBody: Required<RouteBody> = {
  accepts: ['application/json'],
  encodings: [],
  untyped: false,
}

/** Default of curl and Python's urllib. Browsers send it without a preflight. */
const formType = 'application/x-www-form-urlencoded'

/** Throws `UNSUPPORTED_MEDIA_TYPE`. Requests without a body are not checked: web pages are rejected by their origin. */
export function checkBodyHeaders(headers: IncomingHttpHeaders, route: Required<RouteBody>): void {
  if (!hasBody(headers)) return
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && !route.encodings.includes(encoding))
    throw createUnsupportedEncodingError(encoding, route.encodings)
  const type = parseMediaType(headers['content-type'])
  if (type !== undefined && route.accepts.includes(type)) return
  const isUntyped = type === undefined || type === formType
  if (!(isUntyped && route.untyped && isProgram(headers)))
    throw createUnsupportedTypeError(type, route.accepts)
}

export function createUnsupportedTypeError(
  type: string | undefined,
  acceptedTypes: readonly string[],
): CausewayError {
  const list = acceptedTypes.join(', ')
  const message =
    type === undefined
      ? `the body has no content type; accepted: ${list}`
      : `content type ${type} is not accepted; accepted: ${list}`
  return new CausewayError('UNSUPPORTED_MEDIA_TYPE', message, {
    remedy: `send Content-Type: ${acceptedTypes[0]}`,
    data: { content_type: type ?? null, accepted: acceptedTypes },
  })
}

/** Lists the supported codings in `Accept-Encoding` (RFC 9110 section 12.5.3). */
function createUnsupportedEncodingError(encoding: string, otherEncodings: readonly string[]): CausewayError {
  const supportedEncodings = [...otherEncodings, 'identity']
  const list = supportedEncodings.join(', ')
  return new CausewayError(
    'UNSUPPORTED_MEDIA_TYPE',
    `content encoding ${encoding} is not supported; supported: ${list}`,
    {
      remedy: `send Content-Encoding: ${list.replace(', ', ' or ')}, or leave the header out`,
      data: { content_encoding: encoding, supported: supportedEncodings },
    },
  )
}

/** Whether a request has a body (RFC 9112 section 6) of at least one byte. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** `application/json; charset=utf-8` -> `application/json` */
const parseMediaType = (contentType: string | undefined): string | undefined =>
  contentType?.split(';')[0]?.trim().toLowerCase()

/** Browsers send one of these headers with every body. */
const isProgram = (headers: IncomingHttpHeaders): boolean =>
  headers.origin === undefined && headers['sec-fetch-site'] === undefined

type BodyCheck = (body: Buffer, request: FastifyRequest) => void

/** Checks bodies before Fastify parses them. Default: `checkJson`. */
export function limitJsonBodies(
  fastify: FastifyInstance,
  check: BodyCheck = (body) => checkJson(body),
): void {
  const parse = fastify.getDefaultJsonParser('error', 'error')
  fastify.removeContentTypeParser('application/json')
  fastify.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    // Some clients send a content type with an empty DELETE.
    if (request.method === 'DELETE' && body.length === 0) return done(null, undefined)
    try {
      check(body, request)
    } catch (error) {
      return done(error as Error) // a `CausewayError`
    }
    return parse(request, body.toString(), done)
  })
}

/** Rejects with `BODY_TOO_LARGE` when the limit is exceeded. */
export function readBody(body: Readable, limit: { readonly bytes: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (result: () => void): void => {
      body.off('data', addChunk).off('end', end).off('error', reject).off('close', close)
      result()
    }
    const addChunk = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= limit.bytes) chunks.push(chunk)
      else settle(() => reject(createTooLargeError(limit.bytes)))
    }
    const end = (): void => settle(() => resolve(Buffer.concat(chunks)))
    const close = (): void => reject(createAbortedError())
    body.on('data', addChunk).on('end', end).on('error', reject).on('close', close)
  })
}

export const createAbortedError = (): CausewayError =>
  new CausewayError('CANCELLED', 'the caller closed the connection before its request was complete')

export const createTooLargeError = (limitBytes: number): CausewayError =>
  new CausewayError('BODY_TOO_LARGE', `the body is larger than ${limitBytes} bytes`, {
    data: { limit_bytes: limitBytes },
  })

interface DrainLimits {
  readonly bytes: number
  readonly timeoutMs: number
}

const drainLimits: DrainLimits = { bytes: 256 * 2 ** 20, timeoutMs: 30_000 }

/**
 * Reads the rest of the request body before the response ends: many clients read only after sending, and closing
 * with unread bytes resets the connection (RFC 9112 section 9.6).
 */
export function drainBodies(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const hasUnreadBody = !request.raw.complete && hasBody(request.headers)
    const isStalled = reply.statusCode === 408
    if (!hasUnreadBody || isStalled || !(typeof payload === 'string' || Buffer.isBuffer(payload)))
      return done(null, payload)
    // With `Content-Length`, the client can read the whole response before the stream ends.
    reply.header('content-length', Buffer.byteLength(payload))
    done(null, Readable.from(sendAndDrain(payload, request.raw), { objectMode: false }))
  })
}

async function* sendAndDrain(payload: string | Buffer, request: IncomingMessage) {
  yield payload
  await drainBody(request)
}

/** Reads and drops the rest of a body. Beyond the limits, closes the connection after the response. */
export function drainBody(request: IncomingMessage, limits = drainLimits): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    let droppedBytes = 0
    const settle = (): void => {
      clearTimeout(timer)
      request.off('data', dropChunk).off('end', settle).off('close', settle)
      resolve()
    }
    const disconnect = (): void => {
      settle()
      request.socket.destroySoon()
    }
    const dropChunk = (chunk: Buffer): void => {
      droppedBytes += chunk.length
      if (droppedBytes > limits.bytes) disconnect()
    }
    const timer = setTimeout(disconnect, limits.timeoutMs)
    // Earlier listeners would pause or store the body.
    request.removeAllListeners('data')
    request.on('data', dropChunk).on('end', settle).on('close', settle).resume()
  })
}
