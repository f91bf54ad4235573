const firstDelaysMs = [0, 1000, 2000, 4000]
const maxFailures = 5
const windowMs = 5 * 60_000

interface RestartPolicyOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/**
 * Delays after a crash or failed start: 0, 1, 2 and 4 s. After five failures in five minutes, the server is down, with
 * one attempt per five minutes.
 */
export class RestartPolicy {
  readonly #options: RestartPolicyOptions
  #failures: number[] = []
  #nextAttemptMs = Number.NEGATIVE_INFINITY
  #hasReachedMax = false

  constructor(options: RestartPolicyOptions) {
    this.#options = options
  }

  get isDown(): boolean {
    return this.#hasReachedMax && this.#options.now() - (this.#failures.at(-1) ?? 0) < 2 * windowMs
  }

  /** Time until the next attempt. */
  get waitMs(): number {
    return Math.max(0, this.#nextAttemptMs - this.#options.now())
  }

  get isRecovered(): boolean {
    return this.#listRecentFailures().length === 0 && this.waitMs === 0
  }

  /** `retryAfterMs` is the delay that the server requested. */
  recordFailure(retryAfterMs = 0): void {
    const { now, random } = this.#options
    const wasDown = this.isDown
    const recentFailures = this.#listRecentFailures()
    recentFailures.push(now())
    this.#hasReachedMax = wasDown || recentFailures.length >= maxFailures
    this.#failures = recentFailures
    const delayMs = (firstDelaysMs[recentFailures.length - 1] ?? windowMs) * (0.75 + random() / 2)
    this.#nextAttemptMs = now() + Math.max(this.#hasReachedMax ? windowMs : delayMs, retryAfterMs)
  }

  reset(): void {
    this.#failures = []
    this.#hasReachedMax = false
    this.#nextAttemptMs = Number.NEGATIVE_INFINITY
  }

  #listRecentFailures(): number[] {
    const windowStartMs = this.#options.now() - windowMs
    return this.#failures.filter((at) => at > windowStartMs)
  }
}
