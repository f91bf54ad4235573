import { setTimeout as delay } from 'node:timers/promises'
import { LoginError, type ServerLogin } from '@causeway/oauth'
import { isCausewayError, type Message } from '@causeway/protocol'
import type {
  JSONRPCMessage,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  Transport,
} from '@modelcontextprotocol/client'
import { GatewayError } from '../errors.ts'
import { type Channel, type ChannelHandlers, SessionExpired } from './channel.ts'

export interface HttpChannelOptions {
  readonly kind: 'http' | 'sse'
  readonly server: string
  readonly url: string
  /** From the configuration. Clients' tokens are never sent. */
  readonly headers: Readonly<Record<string, string>>
  /** Absent if the headers contain a token. */
  readonly login?: ServerLogin | undefined
  readonly fetch?: typeof fetch
}

type Sdk = typeof import('@modelcontextprotocol/client')

/** Timeout for the request that ends the session. */
const gracePeriodMs = 2000

const maxRetryAfterMs = 60 * 60_000

/** Loads the SDK on first use, because most servers use stdio. */
const loadSdk = (): Promise<Sdk> => import('@modelcontextprotocol/client')

/**
 * Streamable HTTP. Each request has its own transport. The first transport has the session and the stream of
 * notifications.
 */
export class HttpChannel implements Channel {
  readonly hasRequestStreams = true
  readonly stderr = []
  readonly pid = undefined
  readonly #options: HttpChannelOptions
  readonly #requests = new Map<number, StreamableHTTPClientTransport>()
  #sdk: Sdk | undefined
  #mainTransport: StreamableHTTPClientTransport | undefined
  #handlers: ChannelHandlers | undefined
  #version: string | undefined
  /** Delay that the last response requested. */
  readonly #retryAfterMs = new WeakMap<StreamableHTTPClientTransport, number>()
  /** Transports whose response is an event stream. */
  readonly #streams = new WeakSet<StreamableHTTPClientTransport>()
  /** Whether the stream of notifications is open, on which some servers also send responses. */
  #isListening = false

  constructor(options: HttpChannelOptions) {
    this.#options = options
  }

  async start(handlers: ChannelHandlers): Promise<void> {
    this.#handlers = handlers
    this.#sdk = await loadSdk()
    this.#mainTransport = this.#createTransport(this.#sdk)
    this.#mainTransport.onmessage = (message) => handlers.onMessage(message as Message)
    await this.#mainTransport.start()
  }

  async send(message: Message, signal?: AbortSignal): Promise<void> {
    const isRequest = 'method' in message && 'id' in message && message.method !== 'initialize'
    const transport = isRequest
      ? this.#createTransport(this.#sdk as Sdk)
      : (this.#mainTransport as StreamableHTTPClientTransport)
    try {
      if (isRequest) await this.#request(transport, message, signal)
      else await transport.send(message as JSONRPCMessage)
    } catch (error) {
      throw await this.#toSendError(error, this.#retryAfterMs.get(transport))
    }
  }

  useVersion(version: string): void {
    this.#version = version
    this.#mainTransport?.setProtocolVersion(version)
  }

  async close(): Promise<void> {
    for (const transport of this.#requests.values()) await transport.close()
    this.#requests.clear()
    const mainTransport = this.#mainTransport
    this.#mainTransport = undefined
    if (mainTransport?.sessionId !== undefined)
      await Promise.race([
        mainTransport.terminateSession().catch(() => {}),
        delay(gracePeriodMs, undefined, { ref: false }),
      ])
    await mainTransport?.close()
  }

  async #request(
    transport: StreamableHTTPClientTransport,
    message: Message,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const id = (message as { id: number }).id
    this.#requests.set(id, transport)
    const end = (): void => {
      if (this.#requests.delete(id)) void transport.close()
    }
    transport.onmessage = (message) => {
      const isResponse = !('method' in message) && message.id === id
      this.#handlers?.onMessage(message as Message, id)
      if (isResponse) end()
    }
    signal?.addEventListener('abort', end, { once: true })
    await transport.start()
    try {
      await transport.send(message as JSONRPCMessage, {
        onRequestStreamEnd: () => {
          if (this.#requests.has(id))
            this.#handlers?.onRequestLost(id, new Error('the response stream ended'))
          end()
        },
      })
      if (this.#requests.has(id) && !this.#streams.has(transport) && !this.#isListening)
        throw this.#createUnansweredError()
    } catch (error) {
      end()
      throw error
    }
  }

  #createUnansweredError(): Error {
    const { server } = this.#options
    return new GatewayError('UPSTREAM_INVALID', `${server} accepted the request, but sent no result`, {
      data: { server },
      remedy: 'correct the server: a request is answered with JSON or an event stream, not with status 202',
    })
  }

  #createTransport({ StreamableHTTPClientTransport: Transport }: Sdk): StreamableHTTPClientTransport {
    const { url, headers, login } = this.#options
    const sessionId = this.#mainTransport?.sessionId
    const transport = new Transport(new URL(url), {
      requestInit: { headers: { ...headers } },
      fetch: async (target, init) => {
        this.#retryAfterMs.delete(transport)
        const response = await this.#fetch(transport, target, init)
        if (isEventStream(response)) this.#streams.add(transport)
        const retryAfterMs = response.ok ? undefined : parseRetryAfter(response.headers.get('retry-after'))
        if (retryAfterMs !== undefined) this.#retryAfterMs.set(transport, retryAfterMs)
        return response
      },
      ...(login === undefined ? {} : { authProvider: login.createProvider() }),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(this.#version === undefined ? {} : { protocolVersion: this.#version }),
    })
    return transport
  }

  async #fetch(
    transport: StreamableHTTPClientTransport,
    ...[target, init]: Parameters<typeof fetch>
  ): Promise<Response> {
    const { url, fetch: send = fetch } = this.#options
    const isNotificationStream =
      transport === this.#mainTransport && init?.method === 'GET' && String(target) === String(new URL(url))
    if (!isNotificationStream) return send(target, init)
    this.#isListening = true
    try {
      const response = await send(target, init)
      this.#isListening = response.ok
      return response
    } catch (error) {
      this.#isListening = false
      throw error
    }
  }

  async #toSendError(error: unknown, retryAfterMs: number | undefined): Promise<unknown> {
    const { SdkHttpError } = this.#sdk as Sdk
    const isExpired =
      error instanceof SdkHttpError && error.status === 404 && this.#mainTransport?.sessionId !== undefined
    if (isExpired) return new SessionExpired('the session expired')
    return toHttpError(error, { ...this.#options, sdk: this.#sdk as Sdk, retryAfterMs })
  }
}

/** HTTP+SSE of MCP 2024-11-05: one stream for all messages. */
export class SseChannel implements Channel {
  readonly hasRequestStreams = false
  readonly stderr = []
  readonly pid = undefined
  readonly #options: HttpChannelOptions
  #sdk: Sdk | undefined
  #transport: (Transport & SSEClientTransport) | undefined

  constructor(options: HttpChannelOptions) {
    this.#options = options
  }

  async start(handlers: ChannelHandlers): Promise<void> {
    const { url, headers, login, fetch } = this.#options
    this.#sdk = await loadSdk()
    const transport = new this.#sdk.SSEClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      ...(fetch === undefined ? {} : { fetch }),
      ...(login === undefined ? {} : { authProvider: login.createProvider() }),
    })
    this.#transport = transport
    transport.onmessage = (message) => handlers.onMessage(message as Message)
    transport.onclose = () => handlers.onClose(new Error('the event stream ended'))
    let isOpen = false
    transport.onerror = (error) => {
      // The event source would reconnect to a session that no longer exists.
      if (isOpen) handlers.onClose(error)
    }
    await transport.start().catch((error: unknown) => this.#fail(error))
    isOpen = true
  }

  async send(message: Message): Promise<void> {
    await this.#transport?.send(message as JSONRPCMessage).catch((error: unknown) => this.#fail(error))
  }

  async #fail(error: unknown): Promise<never> {
    throw await toHttpError(error, { ...this.#options, sdk: this.#sdk as Sdk, retryAfterMs: undefined })
  }

  useVersion(version: string): void {
    this.#transport?.setProtocolVersion(version)
  }

  async close(): Promise<void> {
    const transport = this.#transport
    this.#transport = undefined
    await transport?.close()
  }
}

async function toHttpError(
  error: unknown,
  {
    server,
    login,
    sdk,
    retryAfterMs,
  }: Pick<HttpChannelOptions, 'server' | 'login'> & { sdk: Sdk; retryAfterMs: number | undefined },
): Promise<unknown> {
  if (isCausewayError(error)) return error
  if (error instanceof sdk.InsufficientScopeError && login !== undefined)
    return login.requireScope(error.requiredScope)
  const status = error instanceof sdk.SdkHttpError ? error.status : undefined
  if (error instanceof sdk.UnauthorizedError || status === 401)
    return login?.createNeedsLoginError() ?? createRejectedTokenError(server)
  return new GatewayError('UPSTREAM_UNAVAILABLE', `${server} cannot be reached: ${describe(error)}`, {
    data: {
      server,
      ...(status === undefined ? {} : { status }),
      ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    },
    cause: error,
  })
}

const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

const createRejectedTokenError = (server: string) =>
  new LoginError('NEEDS_LOGIN', `${server} rejects the token in its configuration`, {
    data: { server },
    remedy: 'correct the header Authorization of the server in mcp.json',
  })

function describe(error: unknown): string {
  const { message, cause } = error as Error
  const reason = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : undefined
  return (reason === undefined ? message : `${message} (${reason})`).slice(0, 300)
}

/** Returns a delay in milliseconds, at most an hour. Accepts seconds and dates (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return ms > 0 ? Math.min(ms, maxRetryAfterMs) : undefined
}
