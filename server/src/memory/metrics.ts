/** The memory of the process and of each cache, for Prometheus. */
import { Gauge, type Registry } from 'prom-client'
import type { CacheReport } from './caches.ts'
import type { MemoryReport } from './guard.ts'

/** Adds the series; they are read when somebody asks for them, once for all of them. */
export function memoryMetrics(registry: Registry, report: () => Promise<MemoryReport>): void {
  let reading: Promise<MemoryReport> | undefined
  const read = (): Promise<MemoryReport> => {
    reading ??= report().finally(() => {
      reading = undefined
    })
    return reading
  }
  const one = (name: string, help: string, value: (memory: MemoryReport) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(value(await read()))
      },
    })
  }
  const perCache = (name: string, help: string, value: (cache: CacheReport) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['cache'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const [cache, held] of Object.entries((await read()).caches)) this.set({ cache }, value(held))
      },
    })
  }
  one(
    'causeway_memory_used_bytes',
    'Memory of the process, without the pages of mapped files where the system tells them apart.',
    ({ used_bytes }) => used_bytes,
  )
  one(
    'causeway_memory_limit_bytes',
    'Memory that the process may have; 0 is no limit.',
    ({ limit_bytes }) => limit_bytes,
  )
  one(
    'causeway_memory_short',
    '1 while requests are answered one at a time for want of memory.',
    ({ status }) => (status === 'short' ? 1 : 0),
  )
  perCache('causeway_cache_bytes', 'Bytes that a cache holds.', ({ bytes }) => bytes)
  perCache('causeway_cache_most_bytes', 'Bytes that a cache may hold.', ({ most_bytes }) => most_bytes)
  perCache(
    'causeway_cache_given_back_bytes',
    'Bytes that a cache has given back since the start.',
    ({ given_back_bytes }) => given_back_bytes,
  )
}
