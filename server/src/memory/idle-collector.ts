import { performance } from 'node:perf_hooks'

interface IdleCollectorOptions {
  readonly collectGarbage: () => Promise<void>
  /** Event loop activity so far, in milliseconds. */
  readonly readActiveMs?: () => number
  readonly onError: (error: unknown) => void
}

const checkIntervalMs = 1000
/** An idle server is active for less than this time between two checks. */
const maxIdleActiveMs = 20
const minIdleChecks = 5
/** Required activity between two collections. Health checks alone do not reach it. */
const minActiveMs = 500

/** V8 collects only when it allocates, so an idle server would retain 20 MB of garbage or more. */
export class IdleCollector {
  readonly #options: IdleCollectorOptions
  readonly #timer: NodeJS.Timeout
  #lastMs: number
  /** Since the last collection. The start of the server counts as activity. */
  #activeMs = minActiveMs
  #idleCount = 0

  constructor(options: IdleCollectorOptions) {
    this.#options = options
    this.#lastMs = this.#readActiveMs()
    this.#timer = setInterval(() => this.#check(), checkIntervalMs).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const nowMs = this.#readActiveMs()
    const activeMs = nowMs - this.#lastMs
    this.#lastMs = nowMs
    this.#activeMs += activeMs
    this.#idleCount = activeMs < maxIdleActiveMs ? this.#idleCount + 1 : 0
    if (this.#idleCount < minIdleChecks || this.#activeMs < minActiveMs) return
    this.#collect().catch(this.#options.onError)
  }

  async #collect(): Promise<void> {
    this.#activeMs = 0
    await this.#options.collectGarbage()
    // The collection itself does not count.
    this.#lastMs = this.#readActiveMs()
  }

  #readActiveMs(): number {
    const { readActiveMs = () => performance.eventLoopUtilization().active } = this.#options
    return readActiveMs()
  }
}
