import type { Autostart } from '../autostart/autostart.ts'
import type { ServerMonitor } from '../http/server-monitor.ts'
import { createUnreachableError } from './answer.ts'
import { computeBackoff } from './retry.ts'

export interface RetryOptions {
  readonly url: URL
  readonly budgetMs: number
  readonly monitor: Pick<ServerMonitor, 'waitForResponse' | 'tryProbe' | 'recordFailure'>
  readonly autostart: Pick<Autostart, 'start' | 'logFile'> | undefined
  readonly now: () => number
  readonly random: () => number
}

/** Short, because a starting server responds within a second or two. */
const firstDelayMs = 100
const maxDelayMs = 2000

export class RetryBudget {
  readonly #options: RetryOptions
  readonly #start: number
  #attempt = 0

  constructor(options: RetryOptions) {
    this.#options = options
    this.#start = options.now()
  }

  get waitedMs(): number {
    return Math.round(this.#options.now() - this.#start)
  }

  /** Waits for `requestedMs`, by default a backoff delay, or less if another call gets a response. Returns `false` if the budget is too small. */
  async pause(requestedMs?: number): Promise<boolean> {
    const remainingMs = this.#getRemainingMs()
    if (remainingMs <= 0 || (requestedMs !== undefined && requestedMs > remainingMs)) return false
    await this.#options.monitor.waitForResponse(requestedMs ?? this.#computeDelayMs(remainingMs))
    return true
  }

  /** Waits for another call's response, or until this call may probe the server. Returns `false` if the budget is spent. */
  async waitForProbe(): Promise<boolean> {
    const { monitor } = this.#options
    let remainingMs = this.#getRemainingMs()
    if (remainingMs <= 0) return false
    // Every call probes once at the end of its budget.
    for (; remainingMs > 0; remainingMs = this.#getRemainingMs())
      if ((await monitor.waitForResponse(this.#computeDelayMs(remainingMs))) || monitor.tryProbe())
        return true
    return true
  }

  /**
   * Waits for the server, starting it if `canStart` and autostart are set. Throws SERVER_START_FAILED, or
   * SERVER_UNREACHABLE if the budget is spent.
   */
  async waitForServer(error: unknown, { canStart }: { readonly canStart: boolean }): Promise<void> {
    const { url, autostart, monitor } = this.#options
    monitor.recordFailure(error)
    const isStarted = autostart === undefined || !canStart || (await this.#waitFor(autostart.start()))
    if (isStarted && (await this.waitForProbe())) return
    throw createUnreachableError(url, error, {
      waitedMs: this.waitedMs,
      remedy: isStarted ? undefined : `the server is starting; call again; see ${autostart?.logFile}`,
    })
  }

  async #waitFor(started: Promise<void>): Promise<boolean> {
    const remainingMs = this.#getRemainingMs()
    if (remainingMs <= 0) return false
    // A response to another call also shows that the server is running.
    const hasResponse = this.#options.monitor
      .waitForResponse(remainingMs)
      .then(() => this.#getRemainingMs() > 0)
    return Promise.race([started.then(() => true), hasResponse])
  }

  #getRemainingMs(): number {
    return this.#options.budgetMs - this.waitedMs
  }

  #computeDelayMs(remainingMs: number): number {
    const delayMs = computeBackoff(this.#attempt, this.#options.random, firstDelayMs)
    this.#attempt += 1
    return Math.min(remainingMs, maxDelayMs, delayMs)
  }
}
