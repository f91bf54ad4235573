import { setTimeout as wait } from 'node:timers/promises'
import { CallQueue } from '@causeway/worker'
import type { Provider } from './provider.ts'

type ThrottleOptions = Pick<Provider, 'max_concurrency' | 'queue' | 'rpm' | 'tpm'>

export class Throttle {
  readonly #queue: CallQueue
  readonly #requests: TokenBucket | undefined
  readonly #tokens: TokenBucket | undefined

  constructor({ max_concurrency, queue, rpm, tpm }: ThrottleOptions, now: () => number) {
    this.#queue = new CallQueue({
      name: 'calls of the provider',
      maxRunning: max_concurrency,
      maxWaiting: queue,
    })
    this.#requests = rpm === undefined ? undefined : new TokenBucket(rpm, now)
    this.#tokens = tpm === undefined ? undefined : new TokenBucket(tpm, now)
  }

  get waiting(): number {
    return this.#queue.waiting
  }

  /** `tokens` is an estimate. Throws `OVERLOADED`, and after an abort `CANCELLED` or `AbortError`. */
  run<T>(tokens: number, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    const work = async (): Promise<T> => {
      const delayMs = Math.max(this.#requests?.take(1) ?? 0, this.#tokens?.take(tokens) ?? 0)
      if (delayMs > 0) await wait(delayMs, undefined, { signal })
      return call()
    }
    return this.#queue.run(work, { signal })
  }
}

/** Token bucket of `perMinute` units that refills at `perMinute` and can be overdrawn. */
class TokenBucket {
  readonly #perMinute: number
  readonly #now: () => number
  #availableUnits: number
  #updatedAt: number

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute
    this.#now = now
    this.#availableUnits = perMinute
    this.#updatedAt = now()
  }

  /** Takes units and returns the delay in milliseconds until they are available. */
  take(units: number): number {
    const now = this.#now()
    const refilledUnits = this.#availableUnits + ((now - this.#updatedAt) * this.#perMinute) / 60_000
    this.#updatedAt = now
    this.#availableUnits = Math.min(this.#perMinute, refilledUnits) - units
    return this.#availableUnits >= 0 ? 0 : (-this.#availableUnits * 60_000) / this.#perMinute
  }
}
