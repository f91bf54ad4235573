const maxFailures = 5
const openMs = 30_000

/** Blocks calls for 30 seconds after five consecutive failures, then admits one call at a time until a success. */
export class CircuitBreaker {
  readonly #now: () => number
  #failures = 0
  #openedAt = 0
  #isProbing = false

  constructor(now: () => number) {
    this.#now = now
  }

  get state(): 'closed' | 'open' | 'half-open' {
    if (this.#failures < maxFailures) return 'closed'
    return this.#now() - this.#openedAt >= openMs ? 'half-open' : 'open'
  }

  /** Returns whether a call is admitted. If so, the caller must record its outcome. */
  tryCall(): boolean {
    const { state } = this
    if (state === 'closed') return true
    if (state === 'open' || this.#isProbing) return false
    this.#isProbing = true
    return true
  }

  recordSuccess(): void {
    this.#failures = 0
    this.#isProbing = false
  }

  recordFailure(): void {
    this.#failures += 1
    this.#isProbing = false
    if (this.#failures >= maxFailures) this.#openedAt = this.#now()
  }

  recordSkip(): void {
    this.#isProbing = false
  }
}
