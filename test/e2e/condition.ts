import { setTimeout as pause } from 'node:timers/promises'

/** Asks again until the answer is good; fails after a minute with the last answer. */
export async function until<T>(ask: () => Promise<T>, isGood: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + 60_000
  for (;;) {
    const answer = await ask()
    if (isGood(answer)) return answer
    if (performance.now() > deadline)
      throw new Error(`not within a minute: ${isGood}; last: ${JSON.stringify(answer)}`)
    await pause(10)
  }
}
