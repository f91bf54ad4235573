/** How many calls come through: one bucket for everybody, and one for each client and class of calls. */
import { CausewayError } from '@causeway/protocol'
import { full, type Rate, taken, waitMs } from '../domain/token-bucket.ts'

/** Rates by class: `total` of all clients; of each client `*`, an app's path, or `<path>.<class>`. Absent: no limit. */
export type Rates = Readonly<Record<string, Rate>>

/** The buckets. */
export interface Limiter {
  /** Takes a token for a call; throws `RATE_LIMITED` with `retry_after_ms`, and takes nothing then. */
  take(client: string, app: string, kind?: string): void
  /** Clients whose buckets are not full now, for `/health`. */
  readonly clients: number
  /** Calls that were refused so far. */
  readonly refused: number
}

/** Buckets that are kept at once; beyond it the full ones are forgotten, then the oldest. */
const maxBuckets = 10_000

/** Makes the buckets, full. `nowMs` is monotonic. */
export function openLimiter(rates: Rates, nowMs: () => number = () => performance.now()): Limiter {
  const isOff = Object.keys(rates).length === 0
  const buckets = new Map<string, number>()
  const classes = new Map<string, string>()
  const { total } = rates
  let totalFullAt = full
  let refused = 0

  /** The class that a call counts in: the narrowest that has a rate of its own. */
  const classOf = (app: string, kind: string | undefined): string => {
    const key = kind === undefined ? app : `${app}.${kind}`
    const known = classes.get(key)
    if (known !== undefined) return known
    const found = [key, app].find((name) => Object.hasOwn(rates, name)) ?? '*'
    classes.set(key, found)
    return found
  }

  const makeRoom = (now: number): void => {
    for (const [key, fullAt] of buckets) if (fullAt <= now) buckets.delete(key)
    for (const key of buckets.keys()) {
      if (buckets.size <= maxBuckets / 2) return
      buckets.delete(key)
    }
  }

  /** Throws where this bucket holds no token. */
  const check = (fullAt: number, rate: Rate, name: string, now: number): void => {
    const wait = waitMs(fullAt, now, rate)
    if (wait === 0) return
    refused += 1
    const { perSecond: per_second, burst } = rate
    throw new CausewayError('RATE_LIMITED', `more than ${per_second} calls in a second: ${name}`, {
      data: { retry_after_ms: Math.ceil(wait), class: name, per_second, burst },
    })
  }

  return {
    take(client, app, kind) {
      if (isOff) return
      const now = nowMs()
      const name = classOf(app, kind)
      // The class of all apps without a rate of their own is one bucket for each client, whichever app it calls.
      const key = `${client} ${name}`
      const rate = rates[name]
      const fullAt = buckets.get(key) ?? full
      if (rate !== undefined) check(fullAt, rate, name, now)
      if (total !== undefined) {
        check(totalFullAt, total, 'total', now)
        totalFullAt = taken(totalFullAt, now, total)
      }
      if (rate === undefined) return
      buckets.set(key, taken(fullAt, now, rate))
      if (buckets.size > maxBuckets) makeRoom(now)
    },
    get clients() {
      const now = nowMs()
      const busy = [...buckets].filter(([, fullAt]) => fullAt > now)
      return new Set(busy.map(([key]) => key.slice(0, key.lastIndexOf(' ')))).size
    },
    get refused() {
      return refused
    },
  }
}
