import { CausewayError } from '@causeway/protocol'
import type { Shortage } from '../monitoring/metrics.ts'

export interface InFlightLimits {
  readonly max?: number
  isOverloaded?(): boolean
  /** If true, requests run one at a time. */
  isMemoryLow?(): boolean
  onRejected?(shortage: Shortage): void
}

const retryAfterMs = 1000

/** Requests that a shutdown waits for. */
export class InFlightRequests {
  readonly #limits: InFlightLimits
  #runningCount = 0
  #isStopping = false
  readonly #finished = Promise.withResolvers<void>()

  constructor(limits: InFlightLimits = {}) {
    this.#limits = limits
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Admits a request without counting it. Throws `SHUTTING_DOWN` or `OVERLOADED`. */
  admit(): void {
    if (this.#isStopping) throw new CausewayError('SHUTTING_DOWN', 'the server is stopping')
    const shortage = this.#findShortage()
    if (shortage === undefined) return
    this.#limits.onRejected?.(shortage)
    throw new CausewayError('OVERLOADED', `the server is busy with ${this.#runningCount} requests`, {
      data: { retry_after_ms: retryAfterMs },
    })
  }

  /** Rejects with the errors of `admit`. `leave` stops counting a response that becomes a stream. */
  async run<T>(respond: (leave: () => void) => Promise<T>): Promise<T> {
    this.admit()
    this.#runningCount += 1
    let isCounted = true
    const leave = (): void => {
      if (!isCounted) return
      isCounted = false
      this.#runningCount -= 1
      if (this.#isStopping && this.#runningCount === 0) this.#finished.resolve()
    }
    try {
      return await respond(leave)
    } finally {
      leave()
    }
  }

  stop(): Promise<void> {
    this.#isStopping = true
    if (this.#runningCount === 0) this.#finished.resolve()
    return this.#finished.promise
  }

  #findShortage(): Shortage | undefined {
    const { max = Number.POSITIVE_INFINITY, isOverloaded, isMemoryLow } = this.#limits
    if (isOverloaded?.() === true) return 'time'
    if (this.#runningCount >= max) return 'places'
    // Always admits one request: the memory limit may be below the server's own need.
    return this.#runningCount >= 1 && isMemoryLow?.() === true ? 'memory' : undefined
  }
}
