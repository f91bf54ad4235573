/** One client of the transport of 2024-11-05: it listens on an event stream and posts its messages elsewhere. */
import type { ServerResponse } from 'node:http'
import { idOf, kindOf, legacyVersions, type Request as RpcRequest } from '@causeway/protocol'
import type { JSONRPCMessage, RequestId, Server, Transport } from '@modelcontextprotocol/server'
import type { ListKind, Mount } from '../core.ts'
import { protocolDetail } from '../log.ts'
import type { Capabilities } from './asking.ts'
import type { Exchange, Turn } from './exchange.ts'
import { rpcFailure, tellable, withLegacyNumber } from './failure.ts'
import { type InitializeParams, initializeParams } from './handshake.ts'
import { withCode } from './sdk-refusal.ts'
import { sdkServer } from './sdk-server.ts'
import { type Subscriptions, subscriptions } from './subscriptions.ts'
import { webRequest, writeUnlessFull } from './web.ts'
import type { Wiring } from './wiring.ts'

/** What a peer is made of. */
export interface SsePeerOptions {
  readonly wiring: Wiring
  readonly id: string
  /** Owner of the token that opened the stream; see `Access`. */
  readonly owner: string
  readonly mount: Mount
  /** The response that the event stream is written to. */
  readonly raw: ServerResponse
  /** Where the client posts to, as a path. */
  readonly endpoint: string
  onClose(): void
}

/** A connected client; its stream is its life. */
export class SsePeer {
  readonly owner: string
  readonly mount: Mount
  readonly #wiring: Wiring
  readonly #transport: SseTransport
  readonly #server: Server
  readonly #subscriptions: Subscriptions
  readonly #exchanges = new WeakMap<Request, Exchange>()
  /** The params of the client's `initialize`, once it has come. */
  #initialize: InitializeParams | undefined

  constructor({ wiring, id, owner, mount, raw, endpoint, onClose }: SsePeerOptions) {
    this.owner = owner
    this.mount = mount
    this.#wiring = wiring
    this.#transport = new SseTransport(raw, { endpoint, keepAliveMs: wiring.keepAliveMs })
    this.#subscriptions = subscriptions(wiring.core)
    this.#server = sdkServer({
      wiring,
      mount,
      era: 'legacy',
      versions: legacyVersions,
      exchangeOf: (request) => this.#exchanges.get(request) as Exchange, // put there by take()
      sender: () => ({
        channel: 'sse',
        client: this.#initialize?.clientInfo,
        capabilities: this.#initialize?.capabilities as Capabilities | undefined,
        sessionId: id,
      }),
      own: this.#subscriptions.methods,
    })
    this.#server.onclose = onClose
  }

  /** Tells the client where to post, and begins to listen. */
  open(): Promise<void> {
    return this.#server.connect(this.#transport)
  }

  /** Takes one message that the client posted; resolves when it is answered, at once for one that wants no answer. */
  async take({ request, exchange }: Turn, message: unknown): Promise<void> {
    const asked = webRequest(request, { signal: exchange.signal })
    this.#exchanges.set(asked, exchange)
    try {
      const given = kindOf(message) === 'request' ? this.#completed(message as RpcRequest) : message
      await this.#transport.receive(given as JSONRPCMessage, asked) // the route has seen that it is one
    } catch (error) {
      const told = tellable(error, this.#wiring.log, exchange.requestId)
      await this.#transport.send(rpcFailure(idOf(message), told, 'legacy') as JSONRPCMessage)
    }
  }

  /** Tells the client that a list is another one. */
  listChanged(kind: ListKind): void {
    this.#notify({ method: `notifications/${kind}/list_changed` })
  }

  /** Tells the client, if it has subscribed. */
  resourceChanged(uri: string): void {
    if (this.#subscriptions.has(uri))
      this.#notify({ method: 'notifications/resources/updated', params: { uri } })
  }

  /** Ends the stream and aborts its calls. */
  async close(): Promise<void> {
    await this.#server.close()
  }

  /** Old clients leave out what was optional when they were written. */
  #completed(message: RpcRequest): RpcRequest {
    if (message.method !== 'initialize') return message
    this.#initialize = initializeParams(message.params ?? {})
    return { ...message, params: this.#initialize }
  }

  #notify(notification: { method: string; params?: Record<string, unknown> }): void {
    // Before its handshake a client is told nothing.
    if (this.#initialize === undefined) return
    this.#server
      .notification(notification)
      .catch((err: unknown) => protocolDetail(this.#wiring.log, { err }, 'a notice was not sent'))
  }
}

/** An event stream as the SDK's `Server` wants it. */
class SseTransport implements Transport {
  onclose?: () => void
  onmessage?: NonNullable<Transport['onmessage']>
  readonly #raw: ServerResponse
  readonly #endpoint: string
  readonly #keepAlive: NodeJS.Timeout
  /** Ends the wait for the answer of a request. */
  readonly #answered = new Map<RequestId, () => void>()

  constructor(raw: ServerResponse, { endpoint, keepAliveMs }: { endpoint: string; keepAliveMs: number }) {
    this.#raw = raw
    this.#endpoint = endpoint
    this.#keepAlive = setInterval(() => raw.write(': keep-alive\n\n'), keepAliveMs)
    raw.once('close', () => this.#end())
  }

  async start(): Promise<void> {
    this.#raw.write(`event: endpoint\ndata: ${this.#endpoint}\n\n`)
  }

  /** Gives a message to the server; resolves when its answer has been sent, or never will be. */
  receive(message: JSONRPCMessage, request: Request): Promise<void> {
    const kind = kindOf(message)
    const done = kind === 'request' ? this.#answerOf((message as RpcRequest).id) : Promise.resolve()
    if (kind === 'notification') this.#forgetCancelled(message)
    this.onmessage?.(message, { request })
    return done
  }

  async send(message: JSONRPCMessage): Promise<void> {
    writeUnlessFull(
      this.#raw,
      `event: message\ndata: ${JSON.stringify(withCode(withLegacyNumber(message)))}\n\n`,
    )
    if (kindOf(message) === 'response') this.#settle(idOf(message))
  }

  async close(): Promise<void> {
    this.#raw.end()
    this.#end()
  }

  #answerOf(id: RequestId): Promise<void> {
    // Under an id that is used twice, only the later request can be waited for.
    this.#settle(id)
    return new Promise((resolve) => this.#answered.set(id, resolve))
  }

  /** The SDK answers nothing to a cancelled request. */
  #forgetCancelled(message: JSONRPCMessage): void {
    const { method, params } = message as { method: string; params?: { requestId?: RequestId } }
    if (method === 'notifications/cancelled') this.#settle(params?.requestId)
  }

  #settle(id: RequestId | null | undefined): void {
    if (id === null || id === undefined) return
    this.#answered.get(id)?.()
    this.#answered.delete(id)
  }

  #end(): void {
    clearInterval(this.#keepAlive)
    for (const id of [...this.#answered.keys()]) this.#settle(id)
    const { onclose } = this
    delete this.onclose
    onclose?.()
  }
}
