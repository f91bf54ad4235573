import { setTimeout as wait } from 'node:timers/promises'

export class Overload extends Error {}

interface ThrottleOptions {
  readonly max_concurrency: number
  readonly queue: number
  readonly rpm?: number | undefined
  readonly tpm?: number | undefined
}

/** Limits concurrent calls, calls per minute and tokens per minute. */
export class Throttle {
  readonly #options: ThrottleOptions
  readonly #queue: (() => void)[] = []
  readonly #requests: TokenBucket | undefined
  readonly #tokens: TokenBucket | undefined
  #running = 0

  constructor(options: ThrottleOptions, now: () => number) {
    this.#options = options
    this.#requests = options.rpm === undefined ? undefined : new TokenBucket(options.rpm, now)
    this.#tokens = options.tpm === undefined ? undefined : new TokenBucket(options.tpm, now)
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** `tokens` is an estimate. Throws `Overload`, and the reason of the signal. */
  async run<T>(tokens: number, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    await this.#acquire(signal)
    try {
      const delay = Math.max(this.#requests?.take(1) ?? 0, this.#tokens?.take(tokens) ?? 0)
      if (delay > 0) await wait(delay, undefined, { signal })
      return await call()
    } finally {
      this.#release()
    }
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    if (this.#running < this.#options.max_concurrency) {
      this.#running += 1
      return
    }
    const queue = this.#queue
    if (queue.length >= this.#options.queue)
      throw new Overload(`${queue.length} calls are queued for the provider`)
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', cancel)
        resolve()
      }
      const cancel = (): void => {
        queue.splice(queue.indexOf(start), 1)
        reject(signal.reason)
      }
      queue.push(start)
      signal.addEventListener('abort', cancel, { once: true })
    })
  }

  #release(): void {
    const next = this.#queue.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}

/** A token bucket that refills evenly over a minute and can be overdrawn. */
class TokenBucket {
  readonly #perMinute: number
  readonly #now: () => number
  #left: number
  #since: number

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute
    this.#now = now
    this.#left = perMinute
    this.#since = now()
  }

  /** Takes units and returns the milliseconds until they are available. */
  take(units: number): number {
    const now = this.#now()
    const refilled = this.#left + ((now - this.#since) * this.#perMinute) / 60_000
    this.#since = now
    this.#left = Math.min(this.#perMinute, refilled) - units
    return this.#left >= 0 ? 0 : (-this.#left * 60_000) / this.#perMinute
  }
}
