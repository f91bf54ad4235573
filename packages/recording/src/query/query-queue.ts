import { CausewayError } from '@causeway/protocol'

/** Limits of one queue. */
export interface QueryLimits {
  /** queries that run at the same time: each is a process */
  readonly running: number
  /** queries that wait for one of these to end */
  readonly waiting: number
  readonly maxWaitMs: number
}

/** Who asks, and what cancels the wait. */
export interface QueryCaller {
  /** Clients take turns, so that one with many queries does not delay the others. */
  readonly client?: string | undefined
  readonly signal?: AbortSignal | undefined
}

interface Waiting {
  readonly client: string
  readonly start: () => void
}

const defaults: QueryLimits = { running: 2, waiting: 16, maxWaitMs: 10_000 }

/** Limits the concurrent queries of a recording, and queues further ones for a short time. */
export class QueryQueue {
  readonly #limits: QueryLimits
  /** In the order of their turns: a client that gets one moves its other queries behind those of the others. */
  #waiting: readonly Waiting[] = []
  #running = 0

  constructor(limits: QueryLimits = defaults) {
    this.#limits = limits
  }

  /** Runs `work` in its turn. Throws `OVERLOADED` if the queue is full or the wait too long, `CANCELLED`, and what `work` throws. */
  async run<Result>(work: () => Promise<Result>, caller: QueryCaller = {}): Promise<Result> {
    if (caller.signal?.aborted) throw cancelled()
    if (this.#running < this.#limits.running) this.#running += 1
    else await this.#turn(caller)
    try {
      return await work()
    } finally {
      this.#pass()
    }
  }

  /** Resolves when a query that has ended passes its place on. */
  async #turn({ client = '', signal }: QueryCaller): Promise<void> {
    const { waiting, maxWaitMs } = this.#limits
    if (this.#waiting.length >= waiting)
      throw overloaded(`${this.#waiting.length} queries of this recording are waiting`)
    let leave = () => {}
    try {
      await new Promise<void>((resolve, reject) => {
        const own: Waiting = { client, start: resolve }
        const giveUp = (error: CausewayError) => {
          this.#waiting = this.#waiting.filter((one) => one !== own)
          reject(error)
        }
        const cancel = () => giveUp(cancelled())
        const late = setTimeout(
          () => giveUp(overloaded(`no query of this recording ended within ${maxWaitMs} ms`)),
          maxWaitMs,
        )
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
