import { randomUUID } from 'node:crypto'
import { CausewayError, headers, isObject, legacyVersions } from '@causeway/protocol'
import {
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { logProtocolDetail } from '../../log/log.ts'
import type { Change, Mount } from '../../registry/mount.ts'
import { toErrorResponse, useLegacyNumber } from '../error-responses.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import { sendMessages, toExchangeRequest } from '../web-messages.ts'
import { CoreServer } from './core-server.ts'
import { EventLog, isResponseEvent } from './event-log.ts'
import type { InitializeParams } from './initialize.ts'
import { createInput } from './input-codec.ts'
import { encodeResult, jsonType } from './responses.ts'
import { addErrorCode, addErrorCodeToBody } from './sdk-errors.ts'
import { isPlainCall, type PlainCall, StartedCall, StartedCalls } from './started-call.ts'
import { type Notification, Subscriptions } from './subscriptions.ts'

interface SessionOptions {
  readonly services: HttpServices
  readonly id: string
  readonly owner: string
  readonly mount: Mount
  readonly initialize: InitializeParams
  readonly subscriptions: readonly string[]
  onClose(session: Session): void
}

/** The SDK requires both types. */
const acceptHeader = 'application/json, text/event-stream'

/** Estimated size without the event log. */
const estimatedBytes = 40_000

const maxPendingNotifications = 256

/** The session of a client that sent `initialize`. */
export class Session {
  readonly id: string
  readonly owner: string
  readonly mount: Mount
  readonly initialize: InitializeParams
  readonly #services: HttpServices
  readonly #subscriptions: Subscriptions
  readonly #events: EventLog
  readonly #transport: SdkTransport
  readonly #server: CoreServer
  readonly #startedCalls = new StartedCalls()
  /** Notifications for the next GET stream, keyed by JSON. */
  readonly #pendingNotifications = new Map<string, Notification>()
  #openStreams = 0
  #runningRequests = 0
  #lastUsedMs: number

  /** `open` or `restore` must be called before the first message. */
  constructor({ services, id, owner, mount, initialize, subscriptions, onClose }: SessionOptions) {
    this.id = id
    this.owner = owner
    this.mount = mount
    this.initialize = initialize
    this.#services = services
    this.#lastUsedMs = Date.now()
    this.#subscriptions = new Subscriptions(services.core, {
      initial: subscriptions,
      onChange: () => this.#save(),
    })
    this.#events = new EventLog(randomUUID())
    this.#transport = new SdkTransport({
      sessionIdGenerator: () => id,
      keepAliveMs: services.keepAliveMs,
      eventStore: this.#events,
      onsessionclosed: async () => {
        services.core.hosted.gateway.endClient(this.clientKey)
        await services.core.store.handshakes.delete(id)
      },
    })
    this.#server = new CoreServer({
      services,
      mount,
      era: 'legacy',
      versions: legacyVersions,
      getSender: () => ({ ...this.#sender, capabilities: initialize.capabilities }),
      subscriptions: this.#subscriptions,
      onCancelled: (requestId) => this.#sendCancelled(requestId),
    })
    this.#server.onclose = () => {
      this.#startedCalls.close()
      this.#subscriptions.close()
      onClose(this)
    }
  }

  get clientKey(): string {
    return this.owner === '' ? this.id : `${this.owner}:${this.id}`
  }

  /** Unix milliseconds; infinite during a request or an open stream. */
  get lastUsedMs(): number {
    return this.#runningRequests > 0 ? Number.POSITIVE_INFINITY : this.#lastUsedMs
  }

  get openStreams(): number {
    return this.#openStreams
  }

  get bytes(): number {
    return estimatedBytes + this.#events.length
  }

  /** Saves `initialize`, so that the session survives a restart. */
  async open(): Promise<void> {
    await this.#server.connect(this.#transport)
    await this.#save()
  }

  async restore(): Promise<void> {
    await this.#server.connect(this.#transport)
    const { initialize: params } = this
    const response = await this.#repeat({ jsonrpc: '2.0', id: 'revive', method: 'initialize', params })
    await response.text()
    await this.#repeat({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  /** Resolves when the response or the stream has ended. */
  async handle(exchange: Exchange, body = exchange.request.body): Promise<void> {
    this.#runningRequests += 1
    try {
      const { hasFastPath, core } = this.#services
      if (isObject(body) && body.method === 'logging/setLevel' && isObject(body.params))
        core.hosted.gateway.requestLogLevel(body.params.level)
      const isFast = hasFastPath && isPlainCall(body) && acceptsJson(exchange)
      if (!isFast || !(await this.#callTool(exchange, body))) await this.#handleWithSdk(exchange, body)
    } finally {
      this.#runningRequests -= 1
      this.#lastUsedMs = Date.now()
    }
  }

  /** Stores the notification for the next GET stream if none is open. */
  notify(change: Change): void {
    const notification = this.#subscriptions.toNotification(change, this.mount)
    if (notification === undefined) return
    const pendingNotifications = this.#pendingNotifications
    if (this.#openStreams === 0 && pendingNotifications.size < maxPendingNotifications)
      pendingNotifications.set(JSON.stringify(notification), notification)
    this.#server.sendNotification(notification)
  }

  /** Closes the session, which can be restored. */
  async close(): Promise<void> {
    await this.#server.close()
  }

  get #sender() {
    return { client: this.initialize.clientInfo, sessionId: this.id, channel: 'session' as const }
  }

  /** Resolves to `true` if it responded. Otherwise the SDK opens a stream. */
  async #callTool(exchange: Exchange, body: PlainCall): Promise<boolean> {
    const { core, quickCallMs } = this.#services
    const { reply } = exchange
    const call = new StartedCall(core, body, (sender) =>
      exchange.createCaller({
        ...this.#sender,
        ...sender,
        era: 'legacy',
        rpcId: body.id,
        input: createInput(this.initialize.capabilities),
      }),
    )
    const result = await this.#startedCalls.waitFor(body.id, call, call.getQuickResult(quickCallMs))
    if (call.isCancelled) await reply.send(createCancelledResponse(body.id))
    else if (result !== undefined) await reply.type(jsonType).send(encodeResult(body.id, result))
    else {
      exchange.startedCall = call
      return false
    }
    return true
  }

  async #handleWithSdk(exchange: Exchange, body: unknown): Promise<void> {
    const { request, reply } = exchange
    const wereHandled = [body].flat().map((message) => this.#startedCalls.cancelBy(message))
    if (wereHandled.every((wasHandled) => wasHandled)) {
      await reply.code(202).send()
      return
    }
    const sdkRequest = toExchangeRequest(exchange)
    if (request.method === 'POST') sdkRequest.headers.set('accept', acceptHeader)
    this.#dropUnknownEvent(sdkRequest.headers)
    const response = await addErrorCodeToBody(
      await this.#transport.handleRequest(sdkRequest, { parsedBody: body }),
    )
    if (request.method !== 'GET' || !response.ok) return sendMessages(reply, response)
    this.#openStreams += 1
    const pendingNotifications = [...this.#pendingNotifications.values()]
    this.#pendingNotifications.clear()
    // A resumed stream replays pending notifications.
    if (!sdkRequest.headers.has('last-event-id'))
      for (const notification of pendingNotifications) this.#server.sendNotification(notification)
    try {
      await sendMessages(reply, response)
    } finally {
      this.#openStreams -= 1
    }
  }

  /**
   * Removes an unknown `Last-Event-ID`, so that a GET stream starts without a replay. Throws `INVALID_REQUEST` for
   * the stream of a response, which would never arrive.
   */
  #dropUnknownEvent(headers: Headers): void {
    const eventId = headers.get('last-event-id') ?? ''
    if (this.#events.has(eventId)) return
    if (isResponseEvent(eventId))
      throw new CausewayError('INVALID_REQUEST', 'the stream of that answer is no longer kept', {
        remedy: 'send the request again',
      })
    headers.delete('last-event-id')
  }

  /** Sends a response, because the client would otherwise resume the stream of the cancelled call. */
  #sendCancelled(id: RequestId): void {
    this.#transport
      .send(createCancelledResponse(id))
      .catch((err: unknown) =>
        logProtocolDetail(this.#services.log, { err }, 'the stream of a cancelled call was not ended'),
      )
  }

  /** An unsaved session works until the server stops. */
  async #save(): Promise<void> {
    const { core, log } = this.#services
    const handshake = {
      sessionId: this.id,
      owner: this.owner,
      mountPath: this.mount.path,
      initialize: this.initialize,
      subscriptions: this.#subscriptions.uris,
    }
    await core.store.handshakes
      .save(handshake)
      .catch((err: unknown) => log.warn({ err }, 'a session could not be saved'))
  }

  #repeat(body: unknown): Promise<Response> {
    const request = new Request('http://localhost/', {
      method: 'POST',
      headers: { accept: acceptHeader, 'content-type': 'application/json', [headers.sessionId]: this.id },
    })
    return this.#transport.handleRequest(request, { parsedBody: body })
  }
}

const acceptsJson = ({ request: { headers } }: Exchange): boolean =>
  headers.accept !== undefined && /application\/json|\*\/\*/.test(headers.accept)

const createCancelledResponse = (id: RequestId): JSONRPCMessage =>
  toErrorResponse(id, new CausewayError('CANCELLED', 'the call was cancelled'), 'legacy') as JSONRPCMessage

/** Corrects error responses of the SDK. */
class SdkTransport extends WebStandardStreamableHTTPServerTransport {
  override send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    return super.send(addErrorCode(useLegacyNumber(message)), options)
  }
}
