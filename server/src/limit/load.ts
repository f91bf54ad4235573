/** Whether the process still follows: how late its timers are, and how full its heap is. */
import { getHeapStatistics } from 'node:v8'
import type { Logger } from 'pino'

/** A watch over the process. */
export interface LoadWatch {
  /** True while new work would only make it worse. */
  isTooMuch(): boolean
  close(): void
}

/** What one look at the process saw. */
export interface LoadSample {
  /** How late the look was, ms: the longest that anybody else had to wait. */
  readonly lagMs: number
  /** Used heap as a share of its cap, percent. */
  readonly heapPercent: number
}

/** How often it looks, ms. */
const everyMs = 500

/**
 * Watches until it is closed. One late look means a long step that is over by then; two in a row mean a crowd.
 * A `lagMs` of 0 and a `heapPercent` of 100 switch that part off.
 */
export function watchLoad({
  lagMs,
  heapPercent,
  log,
}: LoadSample & { readonly log: Pick<Logger, 'warn' | 'info'> }): LoadWatch {
  let expected = performance.now() + everyMs
  let before = false
  let isTooMuch = false
  const timer = setInterval(() => {
    const now = performance.now()
    const sample = { lagMs: Math.max(0, now - expected), heapPercent: heapUse() }
    expected = now + everyMs
    const isHigh = isAbove(sample, { lagMs, heapPercent })
    const was = isTooMuch
    isTooMuch = isHigh && before
    before = isHigh
    if (isTooMuch && !was) log.warn({ ...rounded(sample) }, 'overloaded: new requests are turned away')
    if (!isTooMuch && was) log.info({ ...rounded(sample) }, 'no longer overloaded')
  }, everyMs).unref()
  return { isTooMuch: () => isTooMuch, close: () => clearInterval(timer) }
}

/** True where a sample is above the limits. */
export const isAbove = (sample: LoadSample, limits: LoadSample): boolean =>
  (limits.lagMs > 0 && sample.lagMs > limits.lagMs) ||
  (limits.heapPercent < 100 && sample.heapPercent > limits.heapPercent)

function heapUse(): number {
  const { used_heap_size: used, heap_size_limit: cap } = getHeapStatistics()
  return (used / cap) * 100
}

const rounded = ({ lagMs, heapPercent }: LoadSample) => ({
  lag_ms: Math.round(lagMs),
  heap_percent: Math.round(heapPercent),
})
