import { getHeapStatistics } from 'node:v8'
import type { Logger } from 'pino'

interface Load {
  readonly lagMs: number
  readonly heapPercent: number
}

const sampleIntervalMs = 500

interface LoadMonitorOptions extends Load {
  readonly log: Pick<Logger, 'warn' | 'info'>
  readonly onSample?: (load: Load) => void
}

/** A `lagMs` of 0 or a `heapPercent` of 100 disables that check. */
export class LoadMonitor {
  readonly #limits: Load
  readonly #log: Pick<Logger, 'warn' | 'info'>
  readonly #onSample: LoadMonitorOptions['onSample']
  readonly #timer: NodeJS.Timeout
  #nextSampleAt = performance.now() + sampleIntervalMs
  #wasAboveLimits = false
  #isOverloaded = false

  constructor({ log, onSample, ...limits }: LoadMonitorOptions) {
    this.#onSample = onSample
    this.#limits = limits
    this.#log = log
    this.#timer = setInterval(() => this.#sample(), sampleIntervalMs).unref()
  }

  /** Requires two samples above a limit, because one can be a single long task. */
  get isOverloaded(): boolean {
    return this.#isOverloaded
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #sample(): void {
    const now = performance.now()
    const load = { lagMs: Math.max(0, now - this.#nextSampleAt), heapPercent: getHeapPercent() }
    this.#nextSampleAt = now + sampleIntervalMs
    this.#onSample?.(load)
    const isAboveLimits = exceedsLimits(load, this.#limits)
    const wasOverloaded = this.#isOverloaded
    this.#isOverloaded = isAboveLimits && this.#wasAboveLimits
    this.#wasAboveLimits = isAboveLimits
    if (this.#isOverloaded === wasOverloaded) return
    const fields = { lag_ms: Math.round(load.lagMs), heap_percent: Math.round(load.heapPercent) }
    if (this.#isOverloaded) this.#log.warn(fields, 'overloaded: new requests are rejected')
    else this.#log.info(fields, 'no longer overloaded')
  }
}

export const exceedsLimits = (load: Load, limits: Load): boolean =>
  (limits.lagMs > 0 && load.lagMs > limits.lagMs) ||
  (limits.heapPercent < 100 && load.heapPercent > limits.heapPercent)

function getHeapPercent(): number {
  const { used_heap_size: usedBytes, heap_size_limit: limitBytes } = getHeapStatistics()
  return (usedBytes / limitBytes) * 100
}
