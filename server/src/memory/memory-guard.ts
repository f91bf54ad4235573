import type { Logger } from 'pino'
import type { CacheReport, CacheSet, OwnedCache } from './cache-set.ts'
import type { MemoryUsage } from './process-memory.ts'

export interface MemoryReport {
  /** `short`: requests run one at a time. */
  readonly status: 'ok' | 'short'
  readonly used_bytes: number
  readonly limit_bytes: number
  readonly heap_bytes: number
  readonly heap_limit_bytes: number
  readonly given_back_bytes: number
  readonly caches: Readonly<Record<string, CacheReport>>
}

interface MemoryGuardOptions {
  readonly caches: CacheSet
  readonly limitBytes: number
  readonly readUsage: () => MemoryUsage
  readonly collectGarbage: () => Promise<void>
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly intervalMs?: number
}

/** Shares of a limit at which eviction starts and stops. */
const processShares = { start: 0.85, end: 0.7 }
/** Above it, V8 collects garbage more and more often. */
const heapShares = { start: 0.75, end: 0.6 }

const checksBetweenCollections = { afterEviction: 5, withoutEviction: 30 }

const checksBetweenLogs = 60

export class MemoryGuard {
  readonly #options: MemoryGuardOptions
  readonly #timer: NodeJS.Timeout
  #isShort = false
  #wasAboveLimit = false
  #checks = 0
  #lastCollection = Number.NEGATIVE_INFINITY
  #lastLog = Number.NEGATIVE_INFINITY
  #logged: ReadonlyMap<string, number> = new Map()
  #checking: Promise<void> | undefined

  constructor(options: MemoryGuardOptions) {
    this.#options = options
    const { log, intervalMs = 1000 } = options
    this.#timer = setInterval(() => {
      this.check().catch((err: unknown) => log.warn({ err }, 'the check of the memory failed'))
    }, intervalMs).unref()
  }

  get isShort(): boolean {
    return this.#isShort
  }

  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async report(): Promise<MemoryReport> {
    const { caches, limitBytes, readUsage } = this.#options
    const { usedBytes, heapBytes, heapLimitBytes } = readUsage()
    return {
      status: this.#isShort ? 'short' : 'ok',
      used_bytes: usedBytes,
      limit_bytes: limitBytes,
      heap_bytes: heapBytes,
      heap_limit_bytes: heapLimitBytes,
      given_back_bytes: this.#evictedBytes,
      caches: await caches.report(),
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#checking?.catch(() => {})
  }

  async #check(): Promise<void> {
    const { caches, limitBytes, readUsage } = this.#options
    this.#checks += 1
    await caches.enforceLimits()
    const { usedBytes, heapBytes, heapLimitBytes } = readUsage()
    const heapExcess = getExcess(heapBytes, heapLimitBytes, heapShares)
    const processExcess = limitBytes === 0 ? 0 : getExcess(usedBytes, limitBytes, processShares)
    await this.#evict(
      caches.byCost.filter(({ cache }) => cache.isInHeap),
      heapExcess,
    )
    if (processExcess > 0) {
      const before = this.#evictedBytes
      await this.#evict(caches.byCost, processExcess)
      await this.#collectGarbage(this.#evictedBytes > before)
    }
    this.#logEvictions()
    this.#updateStatus()
  }

  async #evict(caches: readonly OwnedCache[], bytes: number): Promise<void> {
    let remaining = bytes
    for (const owned of caches) {
      if (remaining <= 0) return
      remaining -= await this.#options.caches.evict(owned, remaining)
    }
  }

  async #collectGarbage(hasEvicted: boolean): Promise<void> {
    const { afterEviction, withoutEviction } = checksBetweenCollections
    if (this.#checks - this.#lastCollection < (hasEvicted ? afterEviction : withoutEviction)) return
    this.#lastCollection = this.#checks
    await this.#options.collectGarbage()
  }

  #logEvictions(): void {
    const { caches, log } = this.#options
    if (this.#checks - this.#lastLog < checksBetweenLogs) return
    const evicted = [...caches.evicted].map(
      ([name, bytes]) => [name, bytes - (this.#logged.get(name) ?? 0)] as const,
    )
    const given_back = Object.fromEntries(evicted.filter(([, bytes]) => bytes > 0))
    if (Object.keys(given_back).length === 0) return
    this.#lastLog = this.#checks
    this.#logged = new Map(caches.evicted)
    log.info({ ...this.#logFields(), given_back }, 'caches were evicted')
  }

  #updateStatus(): void {
    const { limitBytes, readUsage, log } = this.#options
    const isAboveLimit = limitBytes > 0 && readUsage().usedBytes > limitBytes
    const wasShort = this.#isShort
    // A single check above the limit can be a call that ends soon.
    this.#isShort = isAboveLimit && (this.#wasAboveLimit || wasShort)
    this.#wasAboveLimit = isAboveLimit
    if (this.#isShort && !wasShort)
      log.warn(this.#logFields(), 'memory is short: requests are answered one at a time until it is not')
    if (wasShort && !this.#isShort) log.info(this.#logFields(), 'memory is no longer short')
  }

  get #evictedBytes(): number {
    return [...this.#options.caches.evicted.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  #logFields() {
    const { limitBytes, readUsage } = this.#options
    const { usedBytes, heapBytes, heapLimitBytes } = readUsage()
    return {
      used_mb: toMegabytes(usedBytes),
      limit_mb: toMegabytes(limitBytes),
      heap_mb: toMegabytes(heapBytes),
      heap_limit_mb: toMegabytes(heapLimitBytes),
    }
  }
}

const getExcess = (used: number, limit: number, { start, end }: typeof processShares): number =>
  used > limit * start ? Math.ceil(used - limit * end) : 0

const toMegabytes = (bytes: number): number => Math.round(bytes / 2 ** 20)
