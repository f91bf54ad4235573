import type { ServerResponse } from 'node:http'
import { classifyMessage, legacyVersions, type Request, readId } from '@causeway/protocol'
import type { JSONRPCMessage, RequestId, Transport as SdkTransport } from '@modelcontextprotocol/server'
import type { Change, Mount } from '../../registry/mount.ts'
import { toClientError, toErrorResponse, useLegacyNumber } from '../error-responses.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import { type ExchangeRequest, toExchangeRequest, writeOrDisconnect } from '../web-messages.ts'
import { CoreServer } from './core-server.ts'
import { completeInitialize, type InitializeParams } from './initialize.ts'
import { createInput } from './input-codec.ts'
import { encodeResult, isFirstToolPage } from './responses.ts'
import { addErrorCode } from './sdk-errors.ts'
import { isPlainCall, type PlainCall, StartedCall, StartedCalls } from './started-call.ts'
import { Subscriptions } from './subscriptions.ts'

interface SseConnectionOptions {
  readonly services: HttpServices
  readonly id: string
  readonly owner: string
  readonly mount: Mount
  readonly raw: ServerResponse
  readonly endpoint: string
  onClose(): void
}

/** MCP 2024-11-05: the client receives an event stream and posts to an endpoint. */
export class SseConnection {
  readonly owner: string
  readonly mount: Mount
  readonly #id: string
  readonly #services: HttpServices
  readonly #stream: SseStream
  readonly #server: CoreServer
  readonly #subscriptions: Subscriptions
  readonly #startedCalls = new StartedCalls()
  #initialize: InitializeParams | undefined

  constructor({ services, id, owner, mount, raw, endpoint, onClose }: SseConnectionOptions) {
    this.owner = owner
    this.mount = mount
    this.#id = id
    this.#services = services
    this.#stream = new SseStream(raw, { endpoint, keepAliveMs: services.keepAliveMs })
    this.#subscriptions = new Subscriptions(services.core)
    this.#server = new CoreServer({
      services,
      mount,
      era: 'legacy',
      versions: legacyVersions,
      getSender: () => ({ ...this.#sender, capabilities: this.#initialize?.capabilities }),
      subscriptions: this.#subscriptions,
    })
    this.#server.onclose = () => {
      this.#startedCalls.close()
      this.#subscriptions.close()
      onClose()
    }
  }

  open(): Promise<void> {
    return this.#server.connect(this.#stream)
  }

  async handle(exchange: Exchange, message: unknown): Promise<void> {
    // All messages of an array share the exchange and so its `startedCall`.
    const isAlone = message === exchange.request.body
    try {
      if (isAlone && (await this.#handleWithoutSdk(exchange, message))) return
      if (this.#startedCalls.cancelBy(message)) return
      const isRequest = classifyMessage(message) === 'request'
      const completedMessage = isRequest ? this.#completeInitialize(message as Request) : message
      await this.#stream.receive(completedMessage as JSONRPCMessage, toExchangeRequest(exchange))
    } catch (error) {
      const causewayError = toClientError(error, this.#services.log, exchange.requestId)
      await this.#stream.send(toErrorResponse(readId(message), causewayError, 'legacy') as JSONRPCMessage)
    }
  }

  notify(change: Change): void {
    const notification = this.#subscriptions.toNotification(change, this.mount)
    if (this.#initialize !== undefined && notification !== undefined)
      this.#server.sendNotification(notification)
  }

  async close(): Promise<void> {
    await this.#server.close()
  }

  get #sender() {
    return { channel: 'sse' as const, client: this.#initialize?.clientInfo, sessionId: this.#id }
  }

  /** Resolves to `true` if the SDK does not need the message. */
  async #handleWithoutSdk(exchange: Exchange, message: unknown): Promise<boolean> {
    const { hasFastPath, toolLists } = this.#services
    if (!hasFastPath) return false
    if (isPlainCall(message)) return this.#callTool(exchange, message)
    if (!isFirstToolPage(message)) return false
    this.#stream.sendJson(toolLists.toText({ mount: this.mount, era: 'legacy', id: message.id }))
    return true
  }

  /** Resolves to `true` if the SDK need not continue the call. A cancelled call gets no response. */
  async #callTool(exchange: Exchange, message: PlainCall): Promise<boolean> {
    const call = new StartedCall(this.#services.core, message, (channel) =>
      exchange.createCaller({
        ...this.#sender,
        ...channel,
        era: 'legacy',
        rpcId: message.id,
        input: createInput(this.#initialize?.capabilities),
      }),
    )
    const result = await this.#startedCalls.waitFor(message.id, call, call.getQuickResult())
    if (call.isCancelled) return true
    if (result === undefined) {
      exchange.startedCall = call
      return false
    }
    this.#stream.sendJson(encodeResult(message.id, result))
    return true
  }

  #completeInitialize(message: Request): Request {
    if (message.method !== 'initialize') return message
    this.#initialize = completeInitialize(message.params ?? {})
    return { ...message, params: this.#initialize }
  }
}

class SseStream implements SdkTransport {
  onclose?: () => void
  onmessage?: NonNullable<SdkTransport['onmessage']>
  readonly #raw: ServerResponse
  readonly #endpoint: string
  readonly #keepAlive: NodeJS.Timeout
  readonly #pending = new Map<RequestId, () => void>()

  constructor(raw: ServerResponse, { endpoint, keepAliveMs }: { endpoint: string; keepAliveMs: number }) {
    this.#raw = raw
    this.#endpoint = endpoint
    this.#keepAlive = setInterval(() => raw.write(': keep-alive\n\n'), keepAliveMs)
    raw.once('close', () => this.#end())
  }

  async start(): Promise<void> {
    this.#raw.write(`event: endpoint\ndata: ${this.#endpoint}\n\n`)
  }

  /** Resolves when the response is sent or the request is cancelled. */
  receive(message: JSONRPCMessage, request: ExchangeRequest): Promise<void> {
    const kind = classifyMessage(message)
    const responseSent = kind === 'request' ? this.#waitFor((message as Request).id) : Promise.resolve()
    if (kind === 'notification') this.#settleCancelled(message)
    this.onmessage?.(message, { request })
    return responseSent
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.sendJson(JSON.stringify(addErrorCode(useLegacyNumber(message))))
    if (classifyMessage(message) === 'response') this.#settle(readId(message))
  }

  sendJson(json: string | Buffer): void {
    writeOrDisconnect(this.#raw, `event: message\ndata: ${json}\n\n`)
  }

  async close(): Promise<void> {
    this.#raw.end()
    this.#end()
  }

  #waitFor(id: RequestId): Promise<void> {
    // An earlier request may use the same id.
    this.#settle(id)
    return new Promise((resolve) => this.#pending.set(id, resolve))
  }

  #settleCancelled(message: JSONRPCMessage): void {
    const { method, params } = message as { method: string; params?: { requestId?: RequestId } }
    if (method === 'notifications/cancelled') this.#settle(params?.requestId)
  }

  #settle(id: RequestId | null | undefined): void {
    if (id === null || id === undefined) return
    this.#pending.get(id)?.()
    this.#pending.delete(id)
  }

  #end(): void {
    clearInterval(this.#keepAlive)
    for (const id of [...this.#pending.keys()]) this.#settle(id)
    const { onclose } = this
    delete this.onclose
    onclose?.()
  }
}
