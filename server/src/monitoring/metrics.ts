import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { CacheReport, MemoryReport } from '../memory/memory-guard.ts'

interface CallSample {
  readonly app: string
  readonly operationName: string
  readonly code: string
  readonly seconds: number
}

/** Cached, because prom-client would look them up for every sample. */
interface CallSeries {
  readonly duration: Histogram.Internal<string>
  readonly counters: Map<string, Counter.Internal>
}

/** Causes of status 503. */
export type Shortage = 'places' | 'memory' | 'time'

interface GaugeValues {
  readonly running: ReadonlyMap<string, number>
  readonly memory: MemoryReport
}

/** Has its own registry, because several servers can run in one process. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #readGaugeValues: () => Promise<GaugeValues>
  readonly #calls: Counter
  readonly #durations: Histogram
  readonly #running: Gauge
  readonly #rejections: Counter
  readonly #processMemory: ReadonlyMap<Gauge, (memory: MemoryReport) => number>
  readonly #cacheMemory: ReadonlyMap<Gauge, keyof CacheReport>
  /** By app and name. */
  readonly #series = new Map<string, Map<string, CallSeries>>()

  constructor(readGaugeValues: () => Promise<GaugeValues>) {
    this.#readGaugeValues = readGaugeValues
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry, prefix: 'causeway_' })
    this.#calls = new Counter({
      name: 'causeway_calls_total',
      help: 'Finished calls, by app, tool or method, and outcome.',
      labelNames: ['app', 'what', 'code'],
      registers,
    })
    this.#durations = new Histogram({
      name: 'causeway_call_seconds',
      help: 'Time from dispatch to result.',
      labelNames: ['app', 'what'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    })
    this.#running = new Gauge({
      name: 'causeway_running_calls',
      help: 'Calls in flight, by app.',
      labelNames: ['app'],
      registers,
    })
    this.#rejections = new Counter({
      name: 'causeway_requests_turned_away_total',
      help: 'Requests rejected with 503, by what was exhausted: places, memory or time.',
      labelNames: ['want'],
      registers,
    })
    for (const shortage of ['places', 'memory', 'time'] satisfies Shortage[])
      this.#rejections.inc({ want: shortage }, 0)
    const createGauge = (name: string, help: string, labelNames: string[] = []) =>
      new Gauge({ name, help, labelNames, registers })
    this.#processMemory = new Map<Gauge, (memory: MemoryReport) => number>([
      [
        createGauge(
          'causeway_memory_used_bytes',
          'Memory of the process, on Linux without pages of mapped files.',
        ),
        ({ used_bytes }) => used_bytes,
      ],
      [
        createGauge('causeway_memory_limit_bytes', 'Memory limit of the process; 0 if there is no limit.'),
        ({ limit_bytes }) => limit_bytes,
      ],
      [
        createGauge(
          'causeway_memory_short',
          '1 while requests are admitted one at a time because memory is short.',
        ),
        ({ status }) => (status === 'short' ? 1 : 0),
      ],
    ])
    this.#cacheMemory = new Map<Gauge, keyof CacheReport>([
      [createGauge('causeway_cache_bytes', 'Size of a cache.', ['cache']), 'bytes'],
      [createGauge('causeway_cache_most_bytes', 'Maximum size of a cache.', ['cache']), 'most_bytes'],
      [
        createGauge('causeway_cache_given_back_bytes', 'Bytes evicted from a cache since the start.', [
          'cache',
        ]),
        'given_back_bytes',
      ],
    ])
  }

  recordCall({ app, operationName, code, seconds }: CallSample): void {
    const appSeries = getOrCreate(this.#series, app, () => new Map<string, CallSeries>())
    const { duration, counters } = getOrCreate(appSeries, operationName, () => ({
      duration: this.#durations.labels(app, operationName),
      counters: new Map(),
    }))
    duration.observe(seconds)
    getOrCreate(counters, code, () => this.#calls.labels(app, operationName, code)).inc()
  }

  recordRejection(shortage: Shortage): void {
    this.#rejections.inc({ want: shortage })
  }

  async render(): Promise<{ readonly contentType: string; readonly text: string }> {
    const { running, memory } = await this.#readGaugeValues()
    for (const [app, count] of running) this.#running.set({ app }, count)
    for (const [gauge, getValue] of this.#processMemory) gauge.set(getValue(memory))
    for (const [gauge, field] of this.#cacheMemory) {
      gauge.reset()
      for (const [cache, report] of Object.entries(memory.caches)) gauge.set({ cache }, report[field])
    }
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() }
  }

  close(): void {
    this.#registry.clear()
  }
}

function getOrCreate<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const existingValue = map.get(key)
  if (existingValue !== undefined) return existingValue
  const value = create()
  map.set(key, value)
  return value
}
