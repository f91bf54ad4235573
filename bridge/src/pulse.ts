/** Tells those who wait for the server that it has answered somebody. */
export interface Pulse {
  /** The server answered. */
  beat(): void
  /** Resolves after this time, or with the next beat if that comes earlier. */
  next(ms: number): Promise<void>
}

export function createPulse(): Pulse {
  const waiting = new Set<() => void>()
  return {
    beat() {
      for (const wake of [...waiting]) wake()
    },
    next: (ms) =>
      new Promise((resolve) => {
        const wake = (): void => {
          clearTimeout(timer)
          waiting.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        waiting.add(wake)
      }),
  }
}
