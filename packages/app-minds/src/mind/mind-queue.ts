import { MindsError } from '../errors.ts'

interface PendingCalls {
  lastResult: Promise<unknown>
  callCount: number
}

/** Runs the calls of each mind one at a time, in order of arrival. Limits the number of concurrent minds. */
export class MindQueue {
  readonly #now: () => number
  readonly #pending = new Map<string, PendingCalls>()
  readonly #waiting: (() => void)[] = []
  #freeSlots: number
  #depth = 0

  /** `now` returns milliseconds. */
  constructor(maxConcurrent: number, now: () => number) {
    this.#freeSlots = maxConcurrent
    this.#now = now
  }

  get depth(): number {
    return this.#depth
  }

  /** Queues `work`. Throws `MIND_BUSY` if more than `maxAhead` calls of the mind are ahead. */
  async run<T>(
    mindId: string,
    maxAhead: number | Promise<number>,
    work: (waitedMs: number) => Promise<T>,
  ): Promise<T> {
    const pending = this.#pending.get(mindId) ?? { lastResult: Promise.resolve(), callCount: 0 }
    const callsAhead = pending.callCount
    const admission = Promise.resolve(maxAhead).then((limit) => {
      if (callsAhead <= limit) return
      throw new MindsError('MIND_BUSY', `${callsAhead} calls are queued for the mind ${mindId}`, {
        data: { mind_id: mindId, waiting: callsAhead, most: limit },
      })
    })
    const queuedAt = this.#now()
    pending.callCount += 1
    this.#depth += 1
    const result = Promise.all([admission, pending.lastResult]).then(() => this.#runInSlot(queuedAt, work))
    pending.lastResult = Promise.allSettled([result, pending.lastResult]).then(() => undefined)
    this.#pending.set(mindId, pending)
    try {
      return await result
    } finally {
      pending.callCount -= 1
      this.#depth -= 1
      if (pending.callCount === 0) this.#pending.delete(mindId)
    }
  }

  async idle(): Promise<void> {
    while (this.#pending.size > 0)
      await Promise.all([...this.#pending.values()].map(({ lastResult }) => lastResult))
  }

  async #runInSlot<T>(queuedAt: number, work: (waitedMs: number) => Promise<T>): Promise<T> {
    if (this.#freeSlots > 0) this.#freeSlots -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work(this.#now() - queuedAt)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#freeSlots += 1
      else next()
    }
  }
}
