import { eventStreamFields } from './headers.ts'
import type { Upstream } from './upstream.ts'

/** Shorter than the first retry delay, so that a single waiting call can always probe. */
const firstProbeDelayMs = 75
const maxProbeDelayMs = 1500

/** Outages are reported after this time. A restart takes less. */
const reportAfterMs = 500

/** After this time, a server that accepts connections but does not respond is reported. */
const probeTimeoutMs = 1500

interface Options {
  readonly now: () => number
  readonly onUnreachable?: ((error: unknown) => void) | undefined
}

/** Tracks whether the server responds, and limits the probes of waiting calls. */
export class ServerMonitor {
  readonly #now: () => number
  readonly #onUnreachable: (error: unknown) => void
  readonly #listeners = new Set<(responded: boolean) => void>()
  #probes = 0
  #nextProbeAt = 0
  #failure: unknown
  #failingSince = 0
  #hasResponded = false
  #isReported = false

  constructor({ now, onUnreachable = () => {} }: Options) {
    this.#now = now
    this.#onUnreachable = onUnreachable
  }

  /** `undefined` if the server has responded since the last failure. */
  get failure(): { readonly error: unknown; readonly sinceMs: number } | undefined {
    if (this.#failure === undefined) return undefined
    return { error: this.#failure, sinceMs: Math.round(this.#now() - this.#failingSince) }
  }

  markResponsive(): void {
    this.#probes = 0
    this.#nextProbeAt = 0
    this.#failure = undefined
    this.#hasResponded = true
    if (this.#listeners.size > 0) for (const wake of [...this.#listeners]) wake(true)
  }

  recordFailure(error: unknown): void {
    if (this.#failure === undefined) this.#failingSince = this.#now()
    this.#failure = error
    if (this.#now() - this.#failingSince >= reportAfterMs) this.report(error)
  }

  /** Resolves to `true` on the next response; to `false` after `timeoutMs`. */
  waitForResponse(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const wake = (responded: boolean): void => {
        clearTimeout(timer)
        this.#listeners.delete(wake)
        resolve(responded)
      }
      const timer = setTimeout(wake, timeoutMs, false)
      this.#listeners.add(wake)
    })
  }

  /** Whether the caller may probe now. Limits probes, so that they do not slow down a starting server. */
  tryProbe(): boolean {
    const now = this.#now()
    if (now < this.#nextProbeAt) return false
    this.#nextProbeAt = now + Math.min(maxProbeDelayMs, firstProbeDelayMs * 2 ** this.#probes)
    this.#probes += 1
    return true
  }

  /** Reports a server that has never responded, unless it now responds to a GET request. */
  async check(upstream: Upstream): Promise<void> {
    if (this.#hasResponded) return
    const reader = { head() {}, data: () => 0 }
    const exchange = upstream.send({ method: 'GET', fields: eventStreamFields }, reader)
    const failure = await Promise.race([
      exchange.done.then(() => undefined).catch((error: unknown) => error),
      this.waitForResponse(probeTimeoutMs).then((responded) =>
        responded ? undefined : new Error(`no response within ${probeTimeoutMs} ms`),
      ),
    ])
    exchange.abort()
    if (failure !== undefined) this.report(failure)
  }

  report(error: unknown): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#onUnreachable(error)
  }
}
