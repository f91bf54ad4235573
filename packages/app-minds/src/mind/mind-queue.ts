import { MindsError } from '../errors.ts'

interface PendingCalls {
  last: Promise<unknown>
  calls: number
}

/** Runs the calls of each mind one at a time, in order of arrival. Limits the number of concurrent minds. */
export class MindQueue {
  readonly #now: () => number
  readonly #pending = new Map<string, PendingCalls>()
  readonly #waiting: (() => void)[] = []
  #freeSlots: number
  #depth = 0

  /** `now` returns milliseconds. */
  constructor(concurrent: number, now: () => number) {
    this.#freeSlots = concurrent
    this.#now = now
  }

  /** Number of waiting and running calls of all minds. */
  get depth(): number {
    return this.#depth
  }

  /** Throws `MIND_BUSY` if more than `max` calls of the mind are ahead. `max` may resolve after the call is queued. */
  async run<T>(
    mindId: string,
    max: number | Promise<number>,
    work: (waitedMs: number) => Promise<T>,
  ): Promise<T> {
    const pending = this.#pending.get(mindId) ?? { last: Promise.resolve(), calls: 0 }
    const ahead = pending.calls
    const admitted = Promise.resolve(max).then((limit) => {
      if (ahead <= limit) return
      throw new MindsError('MIND_BUSY', `${ahead} calls are queued for the mind ${mindId}`, {
        data: { mind_id: mindId, waiting: ahead, most: limit },
      })
    })
    const since = this.#now()
    pending.calls += 1
    this.#depth += 1
    const turn = Promise.all([admitted, pending.last]).then(() => this.#runInSlot(since, work))
    pending.last = Promise.allSettled([turn, pending.last]).then(() => undefined)
    this.#pending.set(mindId, pending)
    try {
      return await turn
    } finally {
      pending.calls -= 1
      this.#depth -= 1
      if (pending.calls === 0) this.#pending.delete(mindId)
    }
  }

  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all([...this.#pending.values()].map(({ last }) => last))
  }

  async #runInSlot<T>(since: number, work: (waitedMs: number) => Promise<T>): Promise<T> {
    if (this.#freeSlots > 0) this.#freeSlots -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work(this.#now() - since)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#freeSlots += 1
      else next()
    }
  }
}
