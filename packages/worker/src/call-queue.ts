import { CausewayError } from '@causeway/protocol'

/** Options for a queue of calls. */
export interface QueueOptions {
  /** What is queued, for messages: `queries of this recording`. */
  readonly name: string
  readonly maxRunning: number
  /** calls that wait for one of these to end; default 64 */
  readonly maxWaiting?: number
  /** default no limit */
  readonly maxWaitMs?: number
}

/** Who calls, and what cancels the wait. */
export interface Caller {
  /** Clients take turns, so that one with many calls does not delay the others. */
  readonly client?: string | undefined
  readonly signal?: AbortSignal | undefined
}

interface Waiting {
  readonly client: string
  readonly start: () => void
  readonly reject: (error: CausewayError) => void
}

/** Limits the calls that run at the same time, and queues further ones. */
export class CallQueue {
  readonly #options: QueueOptions
  /** In the order of their turns: a client that gets one moves its other calls behind those of the others. */
  #waiting: readonly Waiting[] = []
  #running = 0
  #isClosed = false

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** Runs `work` in its turn. Throws `OVERLOADED` if the queue is full or the wait too long, `CANCELLED`, and what `work` throws. */
  async run<Result>(work: () => Promise<Result>, caller: Caller = {}): Promise<Result> {
    if (this.#isClosed || caller.signal?.aborted) throw cancelled()
    if (this.#running < this.#options.maxRunning) this.#running += 1
    else await this.#turn(caller)
    try {
      // The queue may be closed between the end of one call and the start of the next.
      if (this.#isClosed) throw cancelled()
      return await work()
    } finally {
      this.#pass()
    }
  }

  /** Rejects the waiting calls and all further ones with `CANCELLED`; running calls continue. */
  close(): void {
    this.#isClosed = true
    for (const { reject } of this.#waiting) reject(cancelled())
    this.#waiting = []
  }

  /** Resolves when a call that has ended passes its place on. */
  async #turn({ client = '', signal }: Caller): Promise<void> {
    const { name, maxWaiting = 64, maxWaitMs } = this.#options
    if (this.#waiting.length >= maxWaiting) throw overloaded(`${this.#waiting.length} ${name} are waiting`)
    let leave = () => {}
    try {
      await new Promise<void>((resolve, reject) => {
        const own: Waiting = { client, start: resolve, reject }
        const giveUp = (error: CausewayError) => {
          this.#waiting = this.#waiting.filter((one) => one !== own)
          reject(error)
        }
        const cancel = () => giveUp(cancelled())
        const expire = () => giveUp(overloaded(`${maxWaitMs} ms passed before one of the ${name} ended`))
        const late = maxWaitMs === undefined ? undefined : setTimeout(expire, maxWaitMs)
        signal?.addEventListener('abort', cancel, { once: true })
        leave = () => {
          clearTimeout(late)
          signal?.removeEventListener('abort', cancel)
        }
        this.#waiting = [...this.#waiting, own]
      })
    } finally {
      leave()
    }
  }

  #pass(): void {
    const [next, ...others] = this.#waiting
    if (next === undefined) {
      this.#running -= 1
      return
    }
    const isSame = ({ client }: Waiting) => client === next.client
    this.#waiting = [...others.filter((one) => !isSame(one)), ...others.filter(isSame)]
    next.start()
  }
}

const overloaded = (message: string) =>
  new CausewayError('OVERLOADED', message, { data: { retry_after_ms: 1000 } })

const cancelled = () => new CausewayError('CANCELLED', 'the call was cancelled')
