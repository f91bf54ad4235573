/** What the server counts and measures, for Prometheus. */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

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
  exposition(): Promise<{ readonly contentType: string; readonly text: string }>
  close(): void
}

/** Makes a registry of its own, so that two servers in one process do not mix. */
export function openMetrics(): Metrics {
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
  return {
    call({ app, what, code, seconds }) {
      calls.inc({ app, what, code })
      durations.observe({ app, what }, seconds)
    },
    exposition: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    close: () => registry.clear(),
  }
}
