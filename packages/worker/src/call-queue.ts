import { CausewayError } from '@causeway/protocol'
import { createCancelledError } from './messages.ts'

export interface QueueOptions {
  /** Plural, for messages: `queries of this recording`. */
  readonly name: string
  readonly maxRunning: number
  /** Default: 64. */
  readonly maxWaiting?: number
  /** Default: no limit. */
  readonly maxWaitMs?: number
}

export interface Caller {
  /** The queue starts calls of waiting clients in turn. */
  readonly client?: string | undefined
  readonly signal?: AbortSignal | undefined
}

interface WaitingCall {
  readonly client: string
  readonly start: () => void
  readonly reject: (error: CausewayError) => void
}

export class CallQueue {
  readonly #options: QueueOptions
  #waitingCalls: readonly WaitingCall[] = []
  #runningCount = 0
  #isClosed = false

  constructor(options: QueueOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waitingCalls.length
  }

  /** Rejects with the error of `work`, `CANCELLED`, or `OVERLOADED` if the queue is full or the wait is too long. */
  async run<Result>(work: () => Promise<Result>, caller: Caller = {}): Promise<Result> {
    if (this.#isClosed || caller.signal?.aborted) throw createCancelledError()
    if (this.#runningCount < this.#options.maxRunning) this.#runningCount += 1
    else await this.#waitForTurn(caller)
    try {
      // `close` may have run since the previous call ended.
      if (this.#isClosed) throw createCancelledError()
      return await work()
    } finally {
      this.#startNext()
    }
  }

  /** Rejects waiting and later calls with `CANCELLED`; running calls continue. */
  close(): void {
    this.#isClosed = true
    for (const { reject } of this.#waitingCalls) reject(createCancelledError())
    this.#waitingCalls = []
  }

  async #waitForTurn({ client = '', signal }: Caller): Promise<void> {
    const { name, maxWaiting = 64, maxWaitMs } = this.#options
    if (this.#waitingCalls.length >= maxWaiting)
      throw createOverloadedError(`${this.#waitingCalls.length} ${name} are waiting`)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const call: WaitingCall = { client, start: resolve, reject }
    const removeCall = (error: CausewayError) => {
      this.#waitingCalls = this.#waitingCalls.filter((waitingCall) => waitingCall !== call)
      reject(error)
    }
    const cancel = () => removeCall(createCancelledError())
    const expire = () =>
      removeCall(createOverloadedError(`${maxWaitMs} ms passed before one of the ${name} ended`))
    const timer = maxWaitMs === undefined ? undefined : setTimeout(expire, maxWaitMs)
    signal?.addEventListener('abort', cancel, { once: true })
    this.#waitingCalls = [...this.#waitingCalls, call]
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
    }
  }

  #startNext(): void {
    const [next, ...remainingCalls] = this.#waitingCalls
    if (next === undefined) {
      this.#runningCount -= 1
      return
    }
    const isSameClient = ({ client }: WaitingCall) => client === next.client
    this.#waitingCalls = [
      ...remainingCalls.filter((waitingCall) => !isSameClient(waitingCall)),
      ...remainingCalls.filter(isSameClient),
    ]
    next.start()
  }
}

const createOverloadedError = (message: string) =>
  new CausewayError('OVERLOADED', message, { data: { retry_after_ms: 1000 } })
