/** Limits concurrent work. Waiting work starts in order. */
export class Slots {
  readonly #maxConcurrency: number
  readonly #waiters = new Set<() => void>()
  #usedCount = 0

  constructor(maxConcurrency: number) {
    this.#maxConcurrency = maxConcurrency
  }

  get usedCount(): number {
    return this.#usedCount
  }

  get waitingCount(): number {
    return this.#waiters.size
  }

  /** Throws the signal's reason if it aborts while the work waits. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal)
    try {
      return await work()
    } finally {
      const [next] = this.#waiters
      if (next === undefined) this.#usedCount -= 1
      else {
        this.#waiters.delete(next)
        next()
      }
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#usedCount < this.#maxConcurrency) {
      this.#usedCount += 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.delete(start)
        reject(signal.reason)
      }
      const start = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      this.#waiters.add(start)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
