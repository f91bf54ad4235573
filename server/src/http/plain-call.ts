/**
 * The short way of a plain `tools/call`: begun before the SDK sees the message, and answered as one JSON body.
 *
 * Only what succeeds at once ends here. A call that asks, fails, sends a message or takes its time goes on through the
 * SDK, which finds it begun; so there is one place that knows how each of these is told.
 */
import { isAsk } from '@causeway/app-kit'
import { CausewayError, type Id, isId, type Params, type Request } from '@causeway/protocol'
import type { Caller, Core } from '../core.ts'

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

/** A call under way. */
export interface BegunCall {
  /** What dispatch gives or throws. */
  readonly outcome: Promise<unknown>
  /** The result if it is there within the time and is a plain one; undefined where the SDK must go on. */
  quick(withinMs?: number): Promise<object | undefined>
  /** True once it was cancelled. */
  readonly isCancelled: boolean
  cancel(reason: unknown): void
  /** Hands over to the SDK's context: its signal cancels, and messages go by it, those of before first. */
  attach(to: Attachment): void
}

/** Begins the call of the caller that `callerWith` makes; cancelling is by `cancel`. */
export function beginCall(
  core: Core,
  { params }: PlainCall,
  callerWith: (own: Attachment) => Caller,
): BegunCall {
  const controller = new AbortController()
  const waiting: Parameters<Caller['notify']>[] = []
  let attached: Attachment | undefined
  let leave = (): void => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  controller.signal.addEventListener('abort', leave, { once: true })
  const notify: Caller['notify'] = (...message) => {
    if (attached !== undefined) return attached.notify(...message)
    waiting.push(message)
    leave()
  }
  const outcome = core.dispatch('tools/call', params, callerWith({ signal: controller.signal, notify }))
  const result = outcome.then(
    (given) => (isAsk(given) || waiting.length > 0 ? undefined : (given as object)),
    () => undefined,
  )
  return {
    outcome,
    async quick(withinMs) {
      const timer = withinMs === undefined ? undefined : setTimeout(leave, withinMs)
      const given = await Promise.race([result, left])
      clearTimeout(timer)
      return given as object | undefined
    },
    get isCancelled() {
      return controller.signal.aborted
    },
    cancel: (reason) => controller.abort(reason),
    attach(to) {
      attached = to
      for (const message of waiting.splice(0)) to.notify(...message)
      if (to.signal.aborted) controller.abort(to.signal.reason)
      else to.signal.addEventListener('abort', () => controller.abort(to.signal.reason), { once: true })
    },
  }
}

/** The calls of one client that have been begun and not handed over yet. */
export class BegunCalls {
  readonly #calls = new Map<Id, BegunCall>()

  /** Runs `wait` while the call can be found by its id. */
  async hold<T>(id: Id, call: BegunCall, wait: (call: BegunCall) => Promise<T>): Promise<T> {
    this.#calls.set(id, call)
    try {
      return await wait(call)
    } finally {
      if (this.#calls.get(id) === call) this.#calls.delete(id)
    }
  }

  /** True where a message cancelled one of them, which is all there is to do about it. */
  cancelledBy(message: unknown): boolean {
    const { method, params } = (message ?? {}) as Partial<Request>
    const call = method === 'notifications/cancelled' ? this.#calls.get(params?.requestId as Id) : undefined
    call?.cancel(new CausewayError('CANCELLED', 'the caller cancelled the call'))
    return call !== undefined
  }

  /** Cancels all of them. */
  close(): void {
    for (const call of this.#calls.values())
      call.cancel(new CausewayError('CANCELLED', 'the session has ended'))
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
