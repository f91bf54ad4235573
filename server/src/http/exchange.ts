/** What one HTTP request tells of its caller, beside the messages in it. */
import type { IncomingHttpHeaders } from 'node:http'
import { CausewayError, type ClientInfo, headers, type Id } from '@causeway/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Era, Mount } from '../core.ts'
import { type Access, getOwner } from '../domain/access.ts'
import { type Trace, traceOf } from '../domain/trace.ts'
import { type Abortable, withSignalOf } from '../lazy-signal.ts'
import type { BegunCall } from './plain-call.ts'

/** One HTTP request, as far as a `Caller` is made of it. */
export interface Exchange {
  readonly mount: Mount
  /** `Causeway-Request`, or made for this HTTP request. */
  readonly requestId: string
  /** The value of `Causeway-Session`. */
  readonly session: string | undefined
  /** What the caller's token gives. */
  readonly access: Access | undefined
  /** The program that calls, by its User-Agent, for messages that do not say it themselves. */
  readonly client: ClientInfo
  /** Aborts when the caller hangs up before the answer is complete. */
  readonly signal: AbortSignal
  /** Milliseconds that the caller gives it at most: `Causeway-Deadline`. */
  readonly deadlineMs: number | undefined
  /** `Content-Length`. */
  readonly requestBytes: number | undefined
  readonly trace: Trace | undefined
  /** True for an array of messages: each call then gets a request id of its own. */
  readonly isBatch: boolean
  /** The call in it, where it was begun before the SDK saw it. */
  readonly begun?: BegunCall
}

/** An HTTP request on its way to its answer. */
export interface Turn {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly exchange: Exchange
}

/** What only the message, or the session that it came in, knows. */
export interface Sender {
  readonly era: Era
  readonly channel: Caller['channel']
  readonly rpcId?: Id
  readonly client?: ClientInfo | undefined
  /** `Mcp-Session-Id` of an open session. */
  readonly sessionId?: string | undefined
  /** What cancels the call; where it is absent, hanging up does. */
  readonly aborts?: Abortable
  readonly progress?: Caller['progress']
  readonly notify?: Caller['notify']
  readonly input?: Caller['input']
}

const sessionForm = /^[A-Za-z0-9._-]{1,128}$/
const requestForm = /^[\x21-\x7e]{1,256}$/

/** The key that every caller without a session shares. */
const sharedKey = 'anonymous'

/** The request id that a caller chose, if it has the form of one. */
export function chosenRequestId(given: IncomingHttpHeaders): string | undefined {
  const id = given[headers.causewayRequest]
  return typeof id === 'string' && requestForm.test(id) ? id : undefined
}

/** Returns the key of a client's state. Different owners share none, whichever session they name. */
export function stateKey(access: Access | undefined, key: string): string {
  const owner = getOwner(access)
  return owner === '' ? key : `${owner}:${key}`
}

/** The value of `Causeway-Session`; throws `INVALID_PARAMS` for one that is not of the agreed form. */
export function sessionOf(given: IncomingHttpHeaders): string | undefined {
  const session = given[headers.causewaySession]
  if (session === undefined || (typeof session === 'string' && sessionForm.test(session))) return session
  throw new CausewayError('INVALID_PARAMS', 'Causeway-Session is not of the form [A-Za-z0-9._-]{1,128}', {
    remedy: 'send letters, digits, dots, underscores and hyphens, or leave the header out',
  })
}

/** Reads the headers; throws `INVALID_PARAMS` for a session or request id that is not of the agreed form. */
export function exchangeOf(request: FastifyRequest, reply: FastifyReply, mount: Mount): Exchange {
  const session = sessionOf(request.headers)
  if (
    request.headers[headers.causewayRequest] !== undefined &&
    chosenRequestId(request.headers) === undefined
  )
    throw new CausewayError('INVALID_PARAMS', 'Causeway-Request is not 1 to 256 visible ASCII characters', {
      remedy: 'shorten it, or leave the header out',
    })
  return new HttpExchange(request, reply, mount, session)
}

/** The exchange with what is known of it besides. */
export const extended = <More extends Partial<Exchange>>(
  exchange: Exchange,
  more: More,
): Exchange & More => ({
  ...exchange,
  signal: exchange.signal, // no member of its own, which the spread would take
  ...more,
})

/**
 * A class for the sake of its one getter, which in an object literal would keep the whole request alive: see
 * `withSignalOf`.
 */
class HttpExchange implements Exchange {
  readonly mount: Mount
  readonly requestId: string
  readonly session: string | undefined
  readonly access: Access | undefined
  readonly client: ClientInfo
  readonly deadlineMs: number | undefined
  readonly requestBytes: number | undefined
  readonly trace: Trace | undefined
  readonly isBatch: boolean
  readonly #reply: FastifyReply
  #signal: AbortSignal | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, mount: Mount, session: string | undefined) {
    this.mount = mount
    this.requestId = request.id
    this.session = session
    this.access = request.access
    this.client = clientOf(request.headers['user-agent'])
    this.deadlineMs = numberIn(request.headers[headers.causewayDeadline])
    this.requestBytes = numberIn(request.headers['content-length'])
    this.trace = traceOf(request.headers.traceparent)
    this.isBatch = Array.isArray(request.body)
    this.#reply = reply
  }

  /** Made when it is first wanted: most answers are complete before anybody could hang up. */
  get signal(): AbortSignal {
    this.#signal ??= hungUp(this.#reply)
    return this.#signal
  }
}

/** Who is asking, for the core. State hangs on `Causeway-Session`, else on the MCP session, else on what all share. */
export function callerOf(exchange: Exchange, sender: Sender): Caller {
  const key = exchange.session ?? sender.sessionId
  const { requestId } = exchange
  return withSignalOf(sender.aborts ?? exchange, {
    mount: exchange.mount,
    era: sender.era,
    channel: sender.channel,
    deadlineMs: exchange.deadlineMs,
    requestBytes: exchange.requestBytes,
    trace: exchange.trace,
    sessionKey: stateKey(exchange.access, key ?? sharedKey),
    access: exchange.access,
    sharedSession: key === undefined,
    client: sender.client ?? exchange.client,
    requestId: exchange.isBatch && sender.rpcId !== undefined ? `${requestId}.${sender.rpcId}` : requestId,
    progress: sender.progress ?? (() => {}),
    notify: sender.notify ?? (() => {}),
    input: sender.input,
  })
}

/** A header that holds a whole number above zero. */
const numberIn = (text: string | string[] | undefined): number | undefined =>
  typeof text === 'string' && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined

/** `curl/8.5.0` -> curl, 8.5.0 */
export function clientOf(userAgent: string | undefined): ClientInfo {
  const [, name, version] = /^([^/\s]{1,64})\/([^/\s]{1,32})/.exec(userAgent ?? '') ?? []
  return { name: name ?? 'unknown', version: version ?? '0' }
}

function hungUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  onHangUp(reply, (reason) => controller.abort(reason))
  return controller.signal
}

/** Calls back if the caller hangs up before the answer is complete, or has done so. */
export function onHangUp({ raw }: FastifyReply, cancel: (reason: CausewayError) => void): void {
  const end = (): void => {
    if (!raw.writableFinished) cancel(new CausewayError('CANCELLED', 'the caller closed the connection'))
  }
  if (raw.closed) end()
  else raw.once('close', end)
}
