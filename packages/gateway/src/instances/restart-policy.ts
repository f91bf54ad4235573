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
  #nextAttemptAt = Number.NEGATIVE_INFINITY
  #reachedMax = false

  constructor(options: RestartPolicyOptions) {
    this.#options = options
  }

  get isDown(): boolean {
    return this.#reachedMax && this.#options.now() - (this.#failures.at(-1) ?? 0) < 2 * windowMs
  }

  /** Time until the next attempt. */
  get waitMs(): number {
    return Math.max(0, this.#nextAttemptAt - this.#options.now())
  }

  get isClean(): boolean {
    return this.#recent().length === 0 && this.waitMs === 0
  }

  /** `retryAfterMs` is the delay that the server requested. */
  recordFailure(retryAfterMs = 0): void {
    const { now, random } = this.#options
    const staysDown = this.isDown
    const recent = this.#recent()
    recent.push(now())
    this.#reachedMax = staysDown || recent.length >= maxFailures
    this.#failures = recent
    const delay = (firstDelaysMs[recent.length - 1] ?? windowMs) * (0.75 + random() / 2)
    this.#nextAttemptAt = now() + Math.max(this.#reachedMax ? windowMs : delay, retryAfterMs)
  }

  reset(): void {
    this.#failures = []
    this.#reachedMax = false
    this.#nextAttemptAt = Number.NEGATIVE_INFINITY
  }

  #recent(): number[] {
    const from = this.#options.now() - windowMs
    return this.#failures.filter((at) => at > from)
  }
}
