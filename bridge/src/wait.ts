import type { Pulse } from './pulse.ts'
import { backoff } from './retry.ts'

/** The pauses of one call between its attempts to reach the server, all within one budget. */
export interface Waiting {
  /** Waits until the next attempt, as long as the server wishes where it said so; false: the budget is spent. */
  pause(wishMs?: number): Promise<boolean>
  /** Waits for the turn to look whether there is a server, or for its answer to somebody else; false: the budget is spent. */
  turn(): Promise<boolean>
  /** Waits for this at most as long as the budget lasts; false: it is spent. */
  until(done: Promise<void>): Promise<boolean>
  /** How long the call has waited, in milliseconds. */
  waitedMs(): number
}

interface Parts {
  /** The longest that one call waits, in milliseconds. */
  readonly budgetMs: number
  /** Milliseconds on any steady clock. */
  readonly now: () => number
  /** When the server answers others, and who may ask for it. */
  readonly pulse: Pick<Pulse, 'next' | 'takeTurn'>
  readonly random: () => number
}

/** The first pause; a server that is being started is up within a second or two. */
const firstPauseMs = 100
const longestPauseMs = 2000

/** Begins to wait; the budget counts from here. */
export function createWaiting({ budgetMs, now, pulse, random }: Parts): Waiting {
  const start = now()
  let attempt = 0
  const waitedMs = (): number => Math.round(now() - start)
  const ownMs = (left: number): number =>
    Math.min(left, longestPauseMs, backoff(attempt++, random, firstPauseMs))
  return {
    waitedMs,
    async pause(wishMs) {
      const left = budgetMs - waitedMs()
      // Where the server names a time beyond the budget, nothing is gained by waiting for less.
      if (left <= 0 || (wishMs !== undefined && wishMs > left)) return false
      await pulse.next(wishMs ?? ownMs(left))
      return true
    },
    async turn() {
      let left = budgetMs - waitedMs()
      if (left <= 0) return false
      // At the end of its budget a call looks for itself.
      for (; left > 0; left = budgetMs - waitedMs())
        if ((await pulse.next(ownMs(left))) || pulse.takeTurn()) return true
      return true
    },
    async until(done) {
      const left = budgetMs - waitedMs()
      if (left <= 0) return false
      // An early end of the sleep says that the server is there after all.
      return Promise.race([done.then(() => true), pulse.next(left).then(() => waitedMs() < budgetMs)])
    },
  }
}
