/** Tells those who wait for the server that it has answered somebody, and lets one of them at a time ask for it. */
export interface Pulse {
  /** The server answered. */
  beat(): void
  /** Resolves after this time, or with the next beat if that comes earlier; true: with a beat. */
  next(ms: number): Promise<boolean>
  /**
   * True for the one whose turn it is to look whether the server is there. Turns come less and less often until the next
   * beat, however many wait: a server that starts is not held up by those who wait for it.
   */
  takeTurn(): boolean
}

/** Shorter than the pauses of one call that waits alone, which so never misses its turn. */
const firstTurnMs = 75
const longestTurnMs = 1500

/** `now`: milliseconds on any steady clock. */
export function createPulse(now: () => number): Pulse {
  const waiting = new Set<(isBeat: boolean) => void>()
  let turns = 0
  let nextTurn = 0
  return {
    beat() {
      turns = 0
      nextTurn = 0
      for (const wake of [...waiting]) wake(true)
    },
    next: (ms) =>
      new Promise((resolve) => {
        const wake = (isBeat: boolean): void => {
          clearTimeout(timer)
          waiting.delete(wake)
          resolve(isBeat)
        }
        const timer = setTimeout(wake, ms, false)
        waiting.add(wake)
      }),
    takeTurn() {
      if (now() < nextTurn) return false
      nextTurn = now() + Math.min(longestTurnMs, firstTurnMs * 2 ** turns)
      turns += 1
      return true
    },
  }
}
