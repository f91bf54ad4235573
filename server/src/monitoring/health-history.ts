interface HealthSample {
  /** End of the interval in Unix milliseconds. */
  readonly at_ms: number
  readonly delay_ms: number
  /** Busy time of the event loop. */
  readonly busy_percent: number
  readonly memory_bytes: number
  readonly calls: number
  readonly errors: number
}

interface HealthHistoryOptions {
  readonly now: () => number
  readonly readMemoryBytes: () => number
  readonly readTotals: () => { readonly calls: number; readonly errors: number }
  readonly intervalMs?: number
}

/** 15 minutes at the default interval. */
const maxSamples = 180

export class HealthHistory {
  readonly #options: HealthHistoryOptions
  readonly #samples: HealthSample[] = []
  readonly #timer: NodeJS.Timeout
  #maxDelayMs = 0
  #utilization = performance.eventLoopUtilization()
  #totals

  constructor(options: HealthHistoryOptions) {
    this.#options = options
    this.#totals = options.readTotals()
    this.#timer = setInterval(() => this.sample(), options.intervalMs ?? 5000).unref()
  }

  get samples(): readonly HealthSample[] {
    return this.#samples
  }

  recordDelay(ms: number): void {
    this.#maxDelayMs = Math.max(this.#maxDelayMs, ms)
  }

  sample(): void {
    const { now, readMemoryBytes, readTotals } = this.#options
    const utilization = performance.eventLoopUtilization()
    const totals = readTotals()
    const busyFraction = performance.eventLoopUtilization(utilization, this.#utilization).utilization
    this.#samples.push({
      at_ms: now(),
      delay_ms: Math.round(this.#maxDelayMs * 10) / 10,
      busy_percent: Math.round(busyFraction * 1000) / 10,
      memory_bytes: readMemoryBytes(),
      calls: totals.calls - this.#totals.calls,
      errors: totals.errors - this.#totals.errors,
    })
    if (this.#samples.length > maxSamples) this.#samples.shift()
    this.#utilization = utilization
    this.#totals = totals
    this.#maxDelayMs = 0
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
