/** One thing at a time for each mind, in the order in which it was asked; different minds side by side up to a number. */
import { CausewayError } from '@causeway/protocol'

/** Runs work for minds. */
export interface MindQueue {
  /**
   * Waits for what was asked before. Rejects with `MIND_BUSY` where more than `most` wait already; the place in the line is
   * taken at once, also where that number has to be found out.
   */
  run<T>(mindId: string, most: number | Promise<number>, work: (waitedMs: number) => Promise<T>): Promise<T>
  /** Calls that wait or run, of all minds. */
  readonly depth: number
  /** Done when nothing runs any more. */
  idle(): Promise<void>
}

/** Makes the queue; `now` is a clock in ms, `concurrent` the number of minds at work at once. */
export function mindQueue(concurrent: number, now: () => number): MindQueue {
  const tails = new Map<string, { last: Promise<unknown>; waiting: number }>()
  const slots: (() => void)[] = []
  let free = concurrent
  let depth = 0
  const take = async (): Promise<void> => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => slots.push(resolve))
  }
  const give = (): void => {
    const next = slots.shift()
    if (next === undefined) free += 1
    else next()
  }
  const inSlot = async <T>(since: number, work: (waitedMs: number) => Promise<T>): Promise<T> => {
    await take()
    try {
      return await work(now() - since)
    } finally {
      give()
    }
  }
  return {
    async run(mindId, most, work) {
      const tail = tails.get(mindId) ?? { last: Promise.resolve(), waiting: 0 }
      const ahead = tail.waiting
      // One runs, `most` wait.
      const admitted = Promise.resolve(most).then((limit) => {
        if (ahead <= limit) return
        throw new CausewayError('MIND_BUSY', `${ahead} calls are under way for the mind ${mindId}`, {
          data: { mind_id: mindId, waiting: ahead, most: limit },
        })
      })
      const since = now()
      tail.waiting += 1
      depth += 1
      const turn = Promise.all([admitted, tail.last]).then(() => inSlot(since, work))
      tail.last = Promise.allSettled([turn, tail.last]).then(() => undefined)
      tails.set(mindId, tail)
      try {
        return await turn
      } finally {
        tail.waiting -= 1
        depth -= 1
        if (tail.waiting === 0) tails.delete(mindId)
      }
    },
    get depth() {
      return depth
    },
    async idle() {
      while (tails.size > 0) await Promise.all([...tails.values()].map(({ last }) => last))
    },
  }
}
