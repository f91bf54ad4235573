import { isAsk } from '@causeway/app-kit'
import { CausewayError, type Id, isId, isObject, type Params, type Request } from '@causeway/protocol'
import type { Caller } from '../../dispatch/caller.ts'
import type { Core } from '../../host/core.ts'
import { InFlightList } from '../../limits/in-flight-list.ts'

/** A `tools/call` that has only `name`, `arguments` and `_meta`, and requests no messages. */
export interface PlainCall extends Request {
  readonly method: 'tools/call'
  readonly params: Params & { readonly name: string }
}

const plainParams: ReadonlySet<string> = new Set(['name', 'arguments', '_meta'])

/** Members of `_meta` that request messages during the call. */
const messageOptions = ['progressToken', 'io.modelcontextprotocol/logLevel']

export function isPlainCall(body: unknown): body is PlainCall {
  const { jsonrpc, id, method, params } = (body ?? {}) as Partial<Request>
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isId(id) || !isObject(params)) return false
  if (typeof id === 'number' && !Number.isSafeInteger(id)) return false
  const { name, arguments: args = {}, _meta = {} } = params
  return (
    typeof name === 'string' &&
    isObject(args) &&
    isObject(_meta) &&
    !messageOptions.some((member) => member in _meta) &&
    Object.keys(params).every((member) => plainParams.has(member))
  )
}

/**
 * The fast path: a transport starts the call before the SDK receives the message, and sends a quick result itself.
 * `CoreServer` continues a call that asks questions, fails, sends messages or is slow.
 */
export class StartedCall {
  /** Settles like `Core.dispatch`. */
  readonly outcome: Promise<unknown>
  readonly #pendingMessages: Parameters<Caller['notify']>[] = []
  #notify: Caller['notify'] | undefined
  #controller: AbortController | undefined
  #cancellation: { readonly reason: unknown } | undefined
  #needsSdk = false
  #leaveFastPath: (() => void) | undefined

  constructor(
    core: Core,
    { params }: PlainCall,
    createCaller: (channel: Pick<Caller, 'cancellation' | 'notify'>) => Caller,
  ) {
    const notify: Caller['notify'] = (...message) => {
      if (this.#notify !== undefined) return this.#notify(...message)
      this.#pendingMessages.push(message)
      this.#continueWithSdk()
    }
    this.outcome = core.dispatch('tools/call', params, createCaller({ cancellation: this, notify }))
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#cancellation !== undefined) this.#controller.abort(this.#cancellation.reason)
    return this.#controller.signal
  }

  get isCancelled(): boolean {
    return this.#cancellation !== undefined
  }

  cancel(reason: unknown): void {
    this.#cancellation ??= { reason }
    this.#controller?.abort(reason)
    this.#continueWithSdk()
  }

  /** Resolves to `undefined` if the SDK must continue the call, such as after `timeoutMs`. May be called once. */
  getQuickResult(timeoutMs?: number): Promise<object | undefined> {
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#continueWithSdk(), timeoutMs)
      const settle = (result?: object): void => {
        clearTimeout(timer)
        resolve(result)
      }
      this.#leaveFastPath = settle
      this.outcome.then(
        (result) =>
          settle(isAsk(result) || this.#pendingMessages.length > 0 ? undefined : (result as object)),
        () => settle(),
      )
      if (this.#needsSdk) settle()
    })
  }

  /** Sends pending and later messages with the SDK's `notify`, and aborts with its signal. */
  attach({ cancellation: { signal }, notify }: Pick<Caller, 'cancellation' | 'notify'>): void {
    this.#notify = notify
    for (const message of this.#pendingMessages.splice(0)) notify(...message)
    if (signal.aborted) this.cancel(signal.reason)
    else signal.addEventListener('abort', () => this.cancel(signal.reason), { once: true })
  }

  dropMessages(): void {
    this.#notify = () => {}
  }

  #continueWithSdk(): void {
    this.#needsSdk = true
    this.#leaveFastPath?.()
  }
}

interface Entry {
  index: number
  readonly id: Id
  readonly call: StartedCall
}

export class StartedCalls {
  readonly #entries = new InFlightList<Entry>()

  /** Waits for `result`. Meanwhile, the call can be cancelled by its id. */
  async waitFor<T>(id: Id, call: StartedCall, result: Promise<T>): Promise<T> {
    const entry = { index: 0, id, call }
    this.#entries.add(entry)
    try {
      return await result
    } finally {
      this.#entries.remove(entry)
    }
  }

  /** Returns whether it cancelled a call. If so, the SDK does not need the message. */
  cancelBy(message: unknown): boolean {
    const { method, params } = (message ?? {}) as Partial<Request>
    if (method !== 'notifications/cancelled') return false
    const cancelledCalls = [...this.#entries].filter(({ id }) => id === params?.requestId)
    for (const { call } of cancelledCalls)
      call.cancel(new CausewayError('CANCELLED', 'the caller cancelled the call'))
    return cancelledCalls.length > 0
  }

  close(): void {
    for (const { call } of this.#entries) call.cancel(new CausewayError('CANCELLED', 'the session has ended'))
  }
}
