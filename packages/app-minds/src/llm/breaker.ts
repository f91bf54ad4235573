/** Sparing a provider that fails: after some failures in a row nobody calls it for a while, then one tries. */

/** Failures in a row that open it, and how long it stays open, ms. */
const mostFailures = 5
const openMs = 30_000

/** A circuit breaker. */
export interface Breaker {
  /** True where a call may be made; after a pause, for one call at a time. */
  admits(): boolean
  succeeded(): void
  failed(): void
  /** The call was not made after all. */
  passed(): void
  readonly state: 'closed' | 'open' | 'half-open'
}

/** Makes a breaker that is closed; `now` in ms. */
export function makeBreaker(now: () => number): Breaker {
  let failures = 0
  let openedAt = 0
  let isProbing = false
  const state = (): Breaker['state'] => {
    if (failures < mostFailures) return 'closed'
    return now() - openedAt >= openMs ? 'half-open' : 'open'
  }
  return {
    admits() {
      const current = state()
      if (current === 'closed') return true
      if (current === 'open' || isProbing) return false
      isProbing = true
      return true
    },
    succeeded() {
      failures = 0
      isProbing = false
    },
    failed() {
      failures += 1
      isProbing = false
      if (failures >= mostFailures) openedAt = now()
    },
    passed() {
      isProbing = false
    },
    get state() {
      return state()
    },
  }
}
