import {
  CausewayError,
  classifyMessage,
  headers,
  legacyVersions,
  meta,
  modernVersion,
  supportedVersions,
} from '@causeway/protocol'
import { isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { isFirstToolPage } from './responses.ts'
import { isPlainCall } from './started-call.ts'

type MessageRoute = 'subscription' | 'stateless' | 'open-session' | 'reply' | 'session' | 'json'

/** The first match applies. Clients mix versions, so each message is routed separately. */
const routeRules: readonly (readonly [route: MessageRoute, matches: (message: MessageTraits) => boolean])[] =
  [
    // A subscription's response stays open.
    ['subscription', (message) => message.isStateless && message.method === 'subscriptions/listen'],
    ['stateless', (message) => message.isStateless],
    [
      'open-session',
      (message) =>
        message.method === 'initialize' &&
        message.acceptsStream &&
        message.hasRequest &&
        message.isSdkMessage,
    ],
    // Handled even while the server waits for calls to end.
    ['reply', (message) => message.hasSession && !message.hasRequest && message.isSdkMessage],
    ['session', (message) => message.hasSession && message.acceptsStream && message.isSdkMessage],
    ['json', () => true],
  ]

/** Throws `INVALID_REQUEST` for a stateless message in an array, and `UNSUPPORTED_PROTOCOL`. */
export function routeMessage(request: Pick<FastifyRequest, 'headers' | 'body'>): MessageRoute {
  const message = new MessageTraits(request)
  if (!message.isStateless) checkProtocol(request)
  const [route] = routeRules.find(([, matches]) => matches(message)) as (typeof routeRules)[number]
  return route
}

class MessageTraits {
  readonly #body: unknown
  readonly #headers: FastifyRequest['headers']
  /** Whether `_meta` or the header selects MCP 2026-07-28. */
  readonly isStateless: boolean
  /** Whether the message can skip the SDK's validation. */
  readonly #isPlain: boolean

  constructor({ body, headers: requestHeaders }: Pick<FastifyRequest, 'headers' | 'body'>) {
    this.#body = body
    this.#headers = requestHeaders
    this.isStateless = hasProtocolVersion(body) || isStatelessVersion(requestHeaders[headers.protocolVersion])
    this.#isPlain = !this.isStateless && (isPlainCall(body) || isFirstToolPage(body))
  }

  get method(): unknown {
    return (this.#body as { method?: unknown } | null)?.method
  }

  get hasSession(): boolean {
    return typeof this.#headers[headers.sessionId] === 'string'
  }

  get acceptsStream(): boolean {
    return this.#headers.accept?.includes('text/event-stream') === true
  }

  get hasRequest(): boolean {
    return this.#isPlain || [this.#body].flat().some((message) => classifyMessage(message) === 'request')
  }

  get isSdkMessage(): boolean {
    return this.#isPlain || isSdkMessage(this.#body)
  }
}

/** Whether the SDK can read one or more messages. It cannot read some valid ids, such as fractions. */
export function isSdkMessage(body: unknown): boolean {
  const messages = [body].flat()
  return (
    messages.length > 0 &&
    messages.every(
      (message) => isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message),
    )
  )
}

function hasProtocolVersion(message: unknown): boolean {
  const envelope = (message as { params?: { _meta?: unknown } } | null | undefined)?.params?._meta
  return typeof envelope === 'object' && envelope !== null && meta.protocolVersion in envelope
}

const isStatelessVersion = (version: unknown): boolean =>
  typeof version === 'string' && /^\d{4}-/.test(version) && version >= modernVersion

function checkProtocol({ body, headers: requestHeaders }: Pick<FastifyRequest, 'headers' | 'body'>): void {
  if (Array.isArray(body) && body.some(hasProtocolVersion))
    throw new CausewayError('INVALID_REQUEST', 'a message without handshake must not come in an array', {
      remedy: 'send it alone',
    })
  const version = requestHeaders[headers.protocolVersion]
  if (version === undefined || legacyVersions.some((legacyVersion) => legacyVersion === version)) return
  throw new CausewayError('UNSUPPORTED_PROTOCOL', `unsupported protocol version: ${version}`, {
    data: { supported: supportedVersions, requested: version },
  })
}
