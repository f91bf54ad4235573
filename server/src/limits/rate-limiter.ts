import { CausewayError } from '@causeway/protocol'
import { fullBucket, getWaitTimeMs, type Rate, takeToken } from './token-bucket.ts'

/** Rates by name: `total` for all clients; for each client `<path>`, `<path>.<class>` or `*`. */
export type Rates = Readonly<Record<string, Rate>>

/** Above this number, full buckets are evicted, then the oldest. */
const maxBuckets = 10_000

export class RateLimiter {
  readonly #rates: Rates
  readonly #now: () => number
  readonly #isEnabled: boolean
  readonly #buckets = new Map<string, number>()
  readonly #classes = new Map<string, string>()
  #totalBucket = fullBucket
  #rejectedCount = 0

  constructor(rates: Rates, now: () => number = () => performance.now()) {
    this.#rates = rates
    this.#now = now
    this.#isEnabled = Object.keys(rates).length > 0
  }

  /** Throws `RATE_LIMITED` with `retry_after_ms`. */
  take(client: string, app: string, rateClass?: string): void {
    if (!this.#isEnabled) return
    const now = this.#now()
    const name = this.#findClass(app, rateClass)
    const key = `${client} ${name}`
    const rate = this.#rates[name]
    const { total } = this.#rates
    const bucket = this.#buckets.get(key) ?? fullBucket
    if (rate !== undefined) this.#check(bucket, rate, name, now)
    if (total !== undefined) {
      this.#check(this.#totalBucket, total, 'total', now)
      this.#totalBucket = takeToken(this.#totalBucket, now, total)
    }
    if (rate === undefined) return
    this.#buckets.set(key, takeToken(bucket, now, rate))
    if (this.#buckets.size > maxBuckets) this.#evict(now)
  }

  get busyClients(): number {
    const now = this.#now()
    const busyBuckets = [...this.#buckets].filter(([, fullAtMs]) => fullAtMs > now)
    return new Set(busyBuckets.map(([key]) => key.slice(0, key.lastIndexOf(' ')))).size
  }

  get rejectedCount(): number {
    return this.#rejectedCount
  }

  #findClass(app: string, rateClass: string | undefined): string {
    const key = rateClass === undefined ? app : `${app}.${rateClass}`
    const cachedClass = this.#classes.get(key)
    if (cachedClass !== undefined) return cachedClass
    const className = [key, app].find((name) => Object.hasOwn(this.#rates, name)) ?? '*'
    this.#classes.set(key, className)
    return className
  }

  #check(bucket: number, rate: Rate, name: string, now: number): void {
    const wait = getWaitTimeMs(bucket, now, rate)
    if (wait === 0) return
    this.#rejectedCount += 1
    const { perSecond: per_second, burst } = rate
    throw new CausewayError('RATE_LIMITED', `more than ${per_second} calls in a second: ${name}`, {
      data: { retry_after_ms: Math.ceil(wait), class: name, per_second, burst },
    })
  }

  #evict(now: number): void {
    for (const [key, fullAtMs] of this.#buckets) if (fullAtMs <= now) this.#buckets.delete(key)
    for (const key of this.#buckets.keys()) {
      if (this.#buckets.size <= maxBuckets / 2) return
      this.#buckets.delete(key)
    }
  }
}
