/** What the server counts and measures, for Prometheus. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { MemoryReport } from './memory/guard.ts'
import { memoryMetrics } from './memory/metrics.ts'

/** One finished call. */
export interface CallSample {
  readonly app: string
  readonly what: string
  /** `ok` or the code of the error. */
  readonly code: string
  readonly seconds: number
}

/** The metrics of one server. */
export interface Metrics {
  call(sample: CallSample): void
  /** Counts a request that was turned away before it became a call. */
  turnedAway(want: string): void
  /** Shows what the guard of the memory reports. */
  memory(report: () => Promise<MemoryReport>): void
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>
  close(): void
}

/** Makes a registry of its own, so that two servers in one process do not mix. `running` counts calls under way by app. */
export function openMetrics(running: ReadonlyMap<string, number>): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'causeway_' })
  const calls = new Counter({
    name: 'causeway_calls_total',
    help: 'Calls that were answered, by app, tool or method, and outcome.',
    labelNames: ['app', 'what', 'code'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'causeway_call_seconds',
    help: 'Time from dispatch to answer.',
    labelNames: ['app', 'what'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  })
  const counterOf = memoised((app, what, code) => calls.labels(app, what, code))
  const histogramOf = memoised((app, what) => durations.labels(app, what))
  new Gauge({
    name: 'causeway_running_calls',
    help: 'Calls that are being worked on, by app.',
    labelNames: ['app'],
    registers: [registry],
    collect() {
      for (const [app, count] of running) this.set({ app }, count)
    },
  })
  const turnedAway = new Counter({
    name: 'causeway_requests_turned_away_total',
    help: 'Requests that got 503, by what there was too little of: places, memory or time.',
    labelNames: ['want'],
    registers: [registry],
  })
  for (const want of ['places', 'memory', 'time']) turnedAway.inc({ want }, 0)
  return {
    turnedAway: (want) => turnedAway.inc({ want }),
    memory: (report) => memoryMetrics(registry, report),
    call({ app, what, code, seconds }) {
      counterOf(app, what, code).inc()
      histogramOf(app, what, '').observe(seconds)
    },
    exposition: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    close: () => registry.clear(),
  }
}

/** Finds the series of three labels without hashing them anew; labels are names of tools and codes, so there are few. */
function memoised<Series>(make: (app: string, what: string, code: string) => Series) {
  const known = new Map<string, Series>()
  return (app: string, what: string, code: string): Series => {
    const key = `${app} ${what} ${code}`
    const before = known.get(key)
    if (before !== undefined) return before
    const series = make(app, what, code)
    known.set(key, series)
    return series
  }
}
