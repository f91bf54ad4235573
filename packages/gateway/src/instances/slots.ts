/** Limits concurrent work. Waiting work starts in order. */
export class Slots {
  readonly #max: number
  readonly #waiting = new Set<() => void>()
  #used = 0

  constructor(max: number) {
    this.#max = max
  }

  get used(): number {
    return this.#used
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Throws the signal's reason if it aborts while the work waits. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal)
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (next === undefined) this.#used -= 1
      else {
        this.#waiting.delete(next)
        next()
      }
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#used < this.#max) {
      this.#used += 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(start)
        reject(signal.reason)
      }
      const start = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      this.#waiting.add(start)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
