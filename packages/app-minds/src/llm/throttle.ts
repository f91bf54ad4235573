/** How many calls a provider gets at once and in a minute. */
import { setTimeout as wait } from 'node:timers/promises'

/** What a call waits for; each rejects with `Overload` where there is no hope. */
export interface Throttle {
  /** Runs a call when there is room for it; `tokens` is its estimated size. */
  run<T>(tokens: number, signal: AbortSignal, call: () => Promise<T>): Promise<T>
  /** Calls that wait. */
  readonly waiting: number
}

/** Thrown where more calls wait than may. */
export class Overload extends Error {}

/** Makes a throttle. `rpm` and `tpm` are buckets that fill evenly over a minute. */
export function makeThrottle(
  {
    max_concurrency,
    queue,
    rpm,
    tpm,
  }: { max_concurrency: number; queue: number; rpm?: number | undefined; tpm?: number | undefined },
  now: () => number,
): Throttle {
  const line: (() => void)[] = []
  const buckets = [makeBucket(rpm, now), makeBucket(tpm, now)] as const
  let running = 0
  const enter = async (signal: AbortSignal): Promise<void> => {
    if (running < max_concurrency) {
      running += 1
      return
    }
    if (line.length >= queue) throw new Overload(`${line.length} calls wait for the provider`)
    await new Promise<void>((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        line.splice(line.indexOf(go), 1)
        reject(signal.reason)
      }
      line.push(go)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
  const exit = (): void => {
    const next = line.shift()
    if (next === undefined) running -= 1
    else next()
  }
  return {
    async run(tokens, signal, call) {
      await enter(signal)
      try {
        const delay = Math.max(buckets[0].take(1), buckets[1].take(tokens))
        if (delay > 0) await wait(delay, undefined, { signal })
        return await call()
      } finally {
        exit()
      }
    },
    get waiting() {
      return line.length
    },
  }
}

/** A bucket of so many units a minute; `take` gives the ms until they are there. It may be overdrawn: that is the wait. */
function makeBucket(perMinute: number | undefined, now: () => number): { take(units: number): number } {
  if (perMinute === undefined) return { take: () => 0 }
  let left = perMinute
  let since = now()
  return {
    take(units) {
      left = Math.min(perMinute, left + ((now() - since) * perMinute) / 60_000)
      since = now()
      left -= units
      return left >= 0 ? 0 : (-left * 60_000) / perMinute
    },
  }
}
