/** What starts when its turn comes. A promise holds up everything behind it until it settles. */
export type Turn = () => Promise<void> | undefined

/** Runs turns in the order of their arrival; only those that return a promise are waited for. */
export interface Order {
  push(turn: Turn): void
  /** Turns that have not begun. */
  waiting(): number
  /** Runs all turns, now and from now on, whatever holds them up. */
  release(): void
}

/** `initialize` alone, then `notifications/initialized`, then everything at once: the order that servers rely on. */
export function createOrder(): Order {
  const turns: Turn[] = []
  let isHeld = false
  let isReleased = false

  const run = (): void => {
    while (!isHeld || isReleased) {
      const held = turns.shift()?.()
      if (held === undefined) {
        if (turns.length === 0) return
        continue
      }
      isHeld = true
      void held.finally(() => {
        isHeld = false
        run()
      })
    }
  }
  return {
    push(turn) {
      turns.push(turn)
      run()
    },
    waiting: () => turns.length,
    release() {
      isReleased = true
      run()
    },
  }
}
