/**
 * The short way of a plain `tools/call`: begun before the SDK sees the message, and answered as one JSON body.
 *
 * Only what succeeds at once ends here. A call that asks, fails, sends a message or takes its time goes on through the
 * SDK, which finds it begun; so there is one place that knows how each of these is told.
 */
import { isAsk } from '@causeway/app-kit'
import { CausewayError, type Id, isId, isObject, type Params, type Request } from '@causeway/protocol'
import type { Caller, Core } from '../core.ts'
import type { Abortable } from '../lazy-signal.ts'
import { type Listed, Roster } from '../roster.ts'

/** A `tools/call` with nothing in it that concerns the protocol's machinery. */
export interface PlainCall extends Request {
  readonly method: 'tools/call'
  readonly params: Params & { readonly name: string }
}

const plainParams: ReadonlySet<string> = new Set(['name', 'arguments', '_meta'])

/** `_meta` members that ask for messages during the call. */
const wantsMessages = ['progressToken', 'io.modelcontextprotocol/logLevel']

/** True for one that may take the short way; the SDK decides about all that looks unusual. */
export function isPlainCall(body: unknown): body is PlainCall {
  const { jsonrpc, id, method, params } = (body ?? {}) as Partial<Request>
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isId(id) || !isObject(params)) return false
  if (typeof id === 'number' && !Number.isSafeInteger(id)) return false
  const { name, arguments: args = {}, _meta = {} } = params
  return (
    typeof name === 'string' &&
    isObject(args) &&
    isObject(_meta) &&
    !wantsMessages.some((member) => member in _meta) &&
    Object.keys(params).every((member) => plainParams.has(member))
  )
}

/** What the SDK's context of a call offers to one that was begun before. */
export type Attachment = Pick<Caller, 'signal' | 'notify'>

/** What cancels a call that was begun, and where its messages go. */
export interface OwnWays {
  readonly aborts: Abortable
  readonly notify: Caller['notify']
}

/** A call under way, begun for the caller that `callerWith` makes. */
export class BegunCall {
  /** What dispatch gives or throws. */
  readonly outcome: Promise<unknown>
  readonly #result: Promise<object | undefined>
  readonly #waiting: Parameters<Caller['notify']>[] = []
  #notify: Caller['notify'] | undefined
  #controller: AbortController | undefined
  #cancelled: { readonly reason: unknown } | undefined
  #hasLeft = false
  #leave: (() => void) | undefined

  constructor(core: Core, { params }: PlainCall, callerWith: (own: OwnWays) => Caller) {
    const notify: Caller['notify'] = (...message) => {
      if (this.#notify !== undefined) return this.#notify(...message)
      this.#waiting.push(message)
      this.#goOn()
    }
    this.outcome = core.dispatch('tools/call', params, callerWith({ aborts: this, notify }))
    this.#result = this.outcome.then(
      (given) => (isAsk(given) || this.#waiting.length > 0 ? undefined : (given as object)),
      () => undefined,
    )
  }

  /** Aborts when the call is cancelled. Made when it is looked at: what most tools do is over before. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled.reason)
    return this.#controller.signal
  }

  /** True once it was cancelled. */
  get isCancelled(): boolean {
    return this.#cancelled !== undefined
  }

  cancel(reason: unknown): void {
    this.#cancelled ??= { reason }
    this.#controller?.abort(reason)
    this.#goOn()
  }

  /** The result if it is there within the time and is a plain one; undefined where the SDK must go on. */
  quick(withinMs?: number): Promise<object | undefined> {
    if (this.#hasLeft) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const timer = withinMs === undefined ? undefined : setTimeout(() => this.#goOn(), withinMs)
      this.#leave = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
      void this.#result.then((given) => {
        clearTimeout(timer)
        resolve(given)
      })
    })
  }

  /** Hands over to the SDK's context: its signal cancels, and messages go by it, those of before first. */
  attach({ signal, notify }: Attachment): void {
    this.#notify = notify
    for (const message of this.#waiting.splice(0)) notify(...message)
    if (signal.aborted) this.cancel(signal.reason)
    else signal.addEventListener('abort', () => this.cancel(signal.reason), { once: true })
  }

  /** Drops what the tool tells on the way, for a caller that asked for no messages. */
  drop(): void {
    this.#notify = () => {}
  }

  #goOn(): void {
    this.#hasLeft = true
    this.#leave?.()
  }
}

interface Held extends Listed {
  readonly id: Id
  readonly call: BegunCall
}

/** The calls of one client that have been begun and not handed over yet. */
export class BegunCalls {
  readonly #calls = new Roster<Held>()

  /** Runs `wait` while the call can be found by its id. */
  async hold<T>(id: Id, call: BegunCall, wait: (call: BegunCall) => Promise<T>): Promise<T> {
    const held = { id, call, place: 0 }
    this.#calls.add(held)
    try {
      return await wait(call)
    } finally {
      this.#calls.remove(held)
    }
  }

  /** True where a message cancelled one of them, which is all there is to do about it. */
  cancelledBy(message: unknown): boolean {
    const { method, params } = (message ?? {}) as Partial<Request>
    if (method !== 'notifications/cancelled') return false
    const held = [...this.#calls].filter(({ id }) => id === params?.requestId)
    for (const { call } of held) call.cancel(new CausewayError('CANCELLED', 'the caller cancelled the call'))
    return held.length > 0
  }

  /** Cancels all of them. */
  close(): void {
    for (const { call } of this.#calls) call.cancel(new CausewayError('CANCELLED', 'the session has ended'))
  }
}
