/** Default number of concurrent evaluations. */
export const defaultSlots = 2

/** Limits concurrent evaluations; further ones wait in order. */
export class EvaluationSlots {
  readonly #queue: (() => void)[] = []
  #free: number

  constructor(limit = defaultSlots) {
    this.#free = limit
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** Waits for a slot and returns the function that releases it. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      const next = this.#queue.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(enter), 1)
        reject(signal.reason)
      }
      this.#queue.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
