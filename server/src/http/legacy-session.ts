/** One client that opened with `initialize`: its transport, its protocol state and its subscriptions. */
import { CausewayError, headers, legacyVersions, success } from '@causeway/protocol'
import {
  type JSONRPCMessage,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { ListKind, Mount } from '../core.ts'
import { protocolDetail } from '../log.ts'
import { firstInput } from './asking.ts'
import { type EventLog, eventLog } from './event-log.ts'
import { callerOf, type Exchange, extended, type Turn } from './exchange.ts'
import { rpcFailure, withLegacyNumber } from './failure.ts'
import type { InitializeParams } from './handshake.ts'
import { BegunCall, BegunCalls, type PlainCall } from './plain-call.ts'
import { answerWithCode, withCode } from './sdk-refusal.ts'
import { sdkServer } from './sdk-server.ts'
import { type Subscriptions, subscriptions } from './subscriptions.ts'
import { type Notice, unheard } from './unheard.ts'
import { sendMessages, webRequest } from './web.ts'
import type { Wiring } from './wiring.ts'

/** What a session is made of. */
export interface LegacySessionOptions {
  readonly wiring: Wiring
  readonly id: string
  /** Owner of the token that opened it; see `Access`. */
  readonly owner: string
  readonly mount: Mount
  readonly initialize: InitializeParams
  readonly subscriptions: readonly string[]
  /** The session has ended, by whichever side. */
  onClose(session: LegacySession): void
}

/** What the SDK's transport wants to read of every message; callers that want no stream do not come here. */
const accept = 'application/json, text/event-stream'

const lastEvent = 'last-event-id'

/** Bytes of a session without events, about. */
const sessionBytes = 40_000

/** A session; `open` or `revive` it before its first message. */
export class LegacySession {
  readonly id: string
  readonly owner: string
  readonly mount: Mount
  readonly initialize: InitializeParams
  readonly #wiring: Wiring
  readonly #subscriptions: Subscriptions
  readonly #exchanges = new WeakMap<Request, Exchange>()
  readonly #events: EventLog
  readonly #transport: SessionTransport
  readonly #server: Server
  readonly #begun = new BegunCalls()
  readonly #unheard = unheard()
  #usedMs: number
  #running = 0

  constructor(options: LegacySessionOptions) {
    const { wiring, id, owner, mount, initialize, subscriptions: initial, onClose } = options
    this.id = id
    this.owner = owner
    this.mount = mount
    this.initialize = initialize
    this.#wiring = wiring
    this.#usedMs = wiring.now()
    this.#subscriptions = subscriptions(wiring.core, { initial, changed: () => this.#save() })
    this.#events = eventLog(wiring.newId())
    this.#transport = new SessionTransport({
      sessionIdGenerator: () => id,
      keepAliveMs: wiring.keepAliveMs,
      eventStore: this.#events,
      onsessionclosed: () => wiring.core.handshakes.forget(id),
    })
    this.#server = sdkServer({
      wiring,
      mount,
      era: 'legacy',
      versions: legacyVersions,
      exchangeOf: (request) => this.#exchanges.get(request) as Exchange, // put there by answer()
      sender: () => this.#sender,
      own: this.#subscriptions.methods,
      onCancelled: (rpcId) => this.#endCancelled(rpcId),
    })
    this.#server.onclose = () => {
      this.#begun.close()
      onClose(this)
    }
  }

  get #sender() {
    const { clientInfo: client, capabilities } = this.initialize
    return { client, capabilities, sessionId: this.id, channel: 'session' as const }
  }

  /** Milliseconds since the epoch of the last request or stream; infinite while one is open. */
  get usedMs(): number {
    return this.#running > 0 ? Number.POSITIVE_INFINITY : this.#usedMs
  }

  /** Bytes of memory that it takes, about: the transport, the server of the SDK, and what can be resumed. */
  get bytes(): number {
    return sessionBytes + this.#events.length
  }

  /** Makes it ready for the client's own `initialize`, and keeps the handshake for after a restart. */
  async open(): Promise<void> {
    await this.#server.connect(this.#transport)
    await this.#save()
  }

  /** Makes it ready by replaying the handshake that was kept, as if the server had never stopped. */
  async revive(): Promise<void> {
    await this.#server.connect(this.#transport)
    const { initialize: params } = this
    const answer = await this.#replay({ jsonrpc: '2.0', id: 'revive', method: 'initialize', params })
    await answer.text()
    await this.#replay({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  /** Answers a plain call: with one JSON body where the result is there at once, else by a stream. */
  async call(turn: Turn, body: PlainCall): Promise<void> {
    const { reply, exchange } = turn
    this.#running += 1
    try {
      const begun = new BegunCall(this.#wiring.core, body, (own) =>
        callerOf(exchange, {
          era: 'legacy',
          rpcId: body.id,
          input: firstInput(this.initialize.capabilities),
          ...this.#sender,
          ...own,
        }),
      )
      const result = await this.#begun.hold(body.id, begun, (call) => call.quick(this.#wiring.plainMs))
      if (begun.isCancelled) await reply.send(rpcFailure(body.id, cancelled(), 'legacy'))
      else if (result !== undefined)
        await reply.type('application/json').send(JSON.stringify(success(body.id, result)))
      else await this.answer({ ...turn, exchange: extended(exchange, { begun }) }, body)
    } finally {
      this.#running -= 1
      this.#usedMs = this.#wiring.now()
    }
  }

  /** Answers a POST with this body, a GET or a DELETE; resolves when the answer or the stream has ended. */
  async answer({ request, reply, exchange }: Turn, body?: unknown): Promise<void> {
    const areDone = [body].flat().map((message) => this.#begun.cancelledBy(message))
    if (areDone.every((isDone) => isDone)) {
      await reply.code(202).send()
      return
    }
    this.#running += 1
    try {
      const asked = webRequest(request, { signal: exchange.signal })
      if (request.method === 'POST') asked.headers.set('accept', accept)
      this.#forgetLost(asked.headers)
      this.#exchanges.set(asked, exchange)
      const answer = await answerWithCode(await this.#transport.handleRequest(asked, { parsedBody: body }))
      const isStream = request.method === 'GET' && answer.ok
      // A stream that is taken up again brings what was missed by itself.
      const missed = isStream ? this.#unheard.open() : []
      if (!asked.headers.has(lastEvent)) for (const notice of missed) this.#send(notice)
      try {
        await sendMessages(reply, answer)
      } finally {
        if (isStream) this.#unheard.close()
      }
    } finally {
      this.#running -= 1
      this.#usedMs = this.#wiring.now()
    }
  }

  /**
   * An event of an earlier life of the session, or too old. Who listens is served better by a new stream than by a refusal;
   * who waits for an answer would wait for ever on one, and is told to ask again.
   */
  #forgetLost(given: Headers): void {
    const eventId = given.get(lastEvent) ?? ''
    if (this.#events.knows(eventId)) return
    if (this.#events.isOfAnswer(eventId))
      throw new CausewayError('INVALID_REQUEST', 'the stream of that answer is no longer kept', {
        remedy: 'send the request again',
      })
    given.delete(lastEvent)
  }

  /** Tells the client, as soon as it listens, that a list is another one. */
  listChanged(kind: ListKind): void {
    this.#notify({ method: `notifications/${kind}/list_changed` })
  }

  /** Tells the client, if it has subscribed and as soon as it listens. */
  resourceChanged(uri: string): void {
    if (this.#subscriptions.has(uri))
      this.#notify({ method: 'notifications/resources/updated', params: { uri } })
  }

  /** Ends its streams and aborts its calls; the handshake is kept. */
  async close(): Promise<void> {
    await this.#server.close()
  }

  /**
   * The SDK answers nothing to a cancelled request, and then nothing would end its stream; a stream that ends without
   * an answer would be taken up again by the client.
   */
  #endCancelled(rpcId: RequestId): void {
    const answer = rpcFailure(rpcId, cancelled(), 'legacy')
    this.#transport
      .send(answer as JSONRPCMessage)
      .catch((err: unknown) => protocolDetail(this.#wiring.log, { err }, 'a cancelled call was not ended'))
  }

  /** Best effort: a session whose handshake cannot be kept works until the server stops. */
  async #save(): Promise<void> {
    const { core, log } = this.#wiring
    const handshake = {
      sessionId: this.id,
      owner: this.owner,
      mountPath: this.mount.path,
      initialize: this.initialize,
      subscriptions: this.#subscriptions.all(),
    }
    await core.handshakes
      .save(handshake)
      .catch((err: unknown) => log.warn({ err }, 'a session will not outlive this server'))
  }

  #replay(body: unknown): Promise<Response> {
    const given = { accept, 'content-type': 'application/json', [headers.sessionId]: this.id }
    const asked = new Request('http://localhost/', { method: 'POST', headers: given })
    return this.#transport.handleRequest(asked, { parsedBody: body })
  }

  #notify(notice: Notice): void {
    this.#unheard.note(notice)
    this.#send(notice)
  }

  #send(notice: Notice): void {
    // A client that has just gone is no error.
    this.#server
      .notification({ ...notice })
      .catch((err: unknown) => protocolDetail(this.#wiring.log, { err }, 'a notice was not sent'))
  }
}

const cancelled = (): CausewayError => new CausewayError('CANCELLED', 'the call was cancelled')

/**
 * The SDK gives a missing resource the number of the stateless revision on every revision, where sessions have their own,
 * and its own refusals no code.
 */
class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  override send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    return super.send(withCode(withLegacyNumber(message)), options)
  }
}
