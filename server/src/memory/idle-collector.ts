import { performance } from 'node:perf_hooks'

export interface IdleCollectorOptions {
  readonly collectGarbage: () => Promise<void>
  /** Time for which the event loop has been active so far, in milliseconds. */
  readonly readActiveMs?: () => number
  readonly onError: (error: unknown) => void
}

const checkIntervalMs = 1000
/** The server is idle if the event loop is active for less than this time between two checks, in milliseconds. */
const idleActiveMs = 20
/** Number of consecutive idle checks before a collection. */
const idleChecks = 5
/** Minimum activity between two collections, in milliseconds: health checks alone cause none. */
const minActiveMs = 500

/**
 * Collects garbage once the server is idle after its start or after a period of activity. V8 collects only when it
 * allocates, so an idle server would keep 20 MB or more.
 */
export class IdleCollector {
  readonly #options: IdleCollectorOptions
  readonly #timer: NodeJS.Timeout
  #lastMs: number
  /** Activity since the last collection. The start counts as activity. */
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
    this.#idleCount = activeMs < idleActiveMs ? this.#idleCount + 1 : 0
    if (this.#idleCount < idleChecks || this.#activeMs < minActiveMs) return
    this.#collect().catch(this.#options.onError)
  }

  async #collect(): Promise<void> {
    this.#activeMs = 0
    await this.#options.collectGarbage()
    // The collection itself is not activity.
    this.#lastMs = this.#readActiveMs()
  }

  #readActiveMs(): number {
    const { readActiveMs = () => performance.eventLoopUtilization().active } = this.#options
    return readActiveMs()
  }
}
