import { setTimeout as pause } from 'node:timers/promises'

/** Polls until a value satisfies the predicate and returns it. Rejects with the last value after a minute. */
export async function until<T>(poll: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const value = await poll()
    if (isDone(value)) return value
    if (performance.now() > deadline)
      throw new Error(`not satisfied within a minute: ${isDone}; last value: ${JSON.stringify(value)}`)
    await pause(10)
  }
}
