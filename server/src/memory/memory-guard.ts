import type { Cache } from '@causeway/app-kit'
import type { Logger } from 'pino'
import type { MemoryUsage } from './process-memory.ts'

export interface OwnedCache {
  /** App path, or `causeway`. */
  readonly owner: string
  readonly cache: Cache
}

export interface CacheReport {
  readonly bytes: number
  readonly most_bytes: number
  readonly given_back_bytes: number
}

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
  readonly findCaches: () => readonly OwnedCache[]
  readonly limitBytes: number
  readonly readUsage: () => MemoryUsage
  readonly collectGarbage: () => Promise<void>
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly intervalMs?: number
}

/** Fractions of a limit at which eviction starts and stops. */
const processThresholds = { start: 0.85, end: 0.7 }
/** Lower than `processThresholds`, because V8 collects garbage often in a full heap. */
const heapThresholds = { start: 0.75, end: 0.6 }

const checksBetweenCollections = { afterEviction: 5, withoutEviction: 30 }

const checksBetweenLogs = 60

export class MemoryGuard {
  readonly #options: MemoryGuardOptions
  readonly #timer: NodeJS.Timeout
  #isMemoryLow = false
  #wasAboveLimit = false
  #checkCount = 0
  #lastCollection = Number.NEGATIVE_INFINITY
  #lastLog = Number.NEGATIVE_INFINITY
  /** Evicted bytes since the start, by `<owner>.<cache>`. */
  readonly #evictedBytesByCache = new Map<string, number>()
  #loggedBytesByCache: ReadonlyMap<string, number> = new Map()
  #runningCheck: Promise<void> | undefined

  constructor(options: MemoryGuardOptions) {
    this.#options = options
    const { log, intervalMs = 1000 } = options
    this.#timer = setInterval(() => {
      this.check().catch((err: unknown) => log.warn({ err }, 'the check of the memory failed'))
    }, intervalMs).unref()
  }

  get isMemoryLow(): boolean {
    return this.#isMemoryLow
  }

  check(): Promise<void> {
    this.#runningCheck ??= this.#check().finally(() => {
      this.#runningCheck = undefined
    })
    return this.#runningCheck
  }

  async report(): Promise<MemoryReport> {
    const { findCaches, limitBytes, readUsage } = this.#options
    const { usedBytes, heapBytes, heapLimitBytes } = readUsage()
    const caches = findCaches().map(
      async (ownedCache) => [getName(ownedCache), await this.#reportCache(ownedCache)] as const,
    )
    return {
      status: this.#isMemoryLow ? 'short' : 'ok',
      used_bytes: usedBytes,
      limit_bytes: limitBytes,
      heap_bytes: heapBytes,
      heap_limit_bytes: heapLimitBytes,
      given_back_bytes: this.#evictedBytes,
      caches: Object.fromEntries(await Promise.all(caches)),
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#runningCheck?.catch(() => {})
  }

  async #check(): Promise<void> {
    const { findCaches, limitBytes, readUsage } = this.#options
    this.#checkCount += 1
    for (const ownedCache of findCaches()) {
      const excess = (await this.#measure(ownedCache)) - ownedCache.cache.maxBytes
      if (excess > 0) await this.#evict([ownedCache], excess)
    }
    const { usedBytes, heapBytes, heapLimitBytes } = readUsage()
    const heapExcess = getExcess(heapBytes, heapLimitBytes, heapThresholds)
    const processExcess = limitBytes === 0 ? 0 : getExcess(usedBytes, limitBytes, processThresholds)
    const caches = findCaches().toSorted((a, b) => a.cache.costMs - b.cache.costMs)
    await this.#evict(
      caches.filter(({ cache }) => cache.isInHeap),
      heapExcess,
    )
    if (processExcess > 0) {
      const evictedBefore = this.#evictedBytes
      await this.#evict(caches, processExcess)
      await this.#collectGarbage(this.#evictedBytes > evictedBefore)
    }
    this.#logEvictions()
    this.#updateStatus()
  }

  async #evict(caches: readonly OwnedCache[], bytes: number): Promise<void> {
    let remaining = bytes
    for (const ownedCache of caches) {
      if (remaining <= 0) return
      const evictedBytes = await this.#try(ownedCache, () => ownedCache.cache.shrink(remaining))
      const name = getName(ownedCache)
      if (evictedBytes > 0)
        this.#evictedBytesByCache.set(name, (this.#evictedBytesByCache.get(name) ?? 0) + evictedBytes)
      remaining -= evictedBytes
    }
  }

  async #reportCache(ownedCache: OwnedCache): Promise<CacheReport> {
    return {
      bytes: await this.#measure(ownedCache),
      most_bytes: ownedCache.cache.maxBytes,
      given_back_bytes: this.#evictedBytesByCache.get(getName(ownedCache)) ?? 0,
    }
  }

  #measure(ownedCache: OwnedCache): Promise<number> {
    return this.#try(ownedCache, () => ownedCache.cache.bytes())
  }

  async #try(ownedCache: OwnedCache, run: () => number | Promise<number>): Promise<number> {
    try {
      return await run()
    } catch (err) {
      this.#options.log.warn({ cache: getName(ownedCache), err }, 'a cache could not be evicted')
      return 0
    }
  }

  async #collectGarbage(hasEvicted: boolean): Promise<void> {
    const { afterEviction, withoutEviction } = checksBetweenCollections
    if (this.#checkCount - this.#lastCollection < (hasEvicted ? afterEviction : withoutEviction)) return
    this.#lastCollection = this.#checkCount
    await this.#options.collectGarbage()
  }

  #logEvictions(): void {
    const { log } = this.#options
    if (this.#checkCount - this.#lastLog < checksBetweenLogs) return
    const evictedBytes = [...this.#evictedBytesByCache].map(
      ([name, bytes]) => [name, bytes - (this.#loggedBytesByCache.get(name) ?? 0)] as const,
    )
    const given_back = Object.fromEntries(evictedBytes.filter(([, bytes]) => bytes > 0))
    if (Object.keys(given_back).length === 0) return
    this.#lastLog = this.#checkCount
    this.#loggedBytesByCache = new Map(this.#evictedBytesByCache)
    log.info({ ...this.#logFields(), given_back }, 'caches were evicted')
  }

  #updateStatus(): void {
    const { limitBytes, readUsage, log } = this.#options
    const isAboveLimit = limitBytes > 0 && readUsage().usedBytes > limitBytes
    const wasMemoryLow = this.#isMemoryLow
    // A single check above the limit can be a call that ends soon.
    this.#isMemoryLow = isAboveLimit && (this.#wasAboveLimit || wasMemoryLow)
    this.#wasAboveLimit = isAboveLimit
    if (this.#isMemoryLow && !wasMemoryLow)
      log.warn(this.#logFields(), 'memory is short: requests are answered one at a time until it is not')
    if (wasMemoryLow && !this.#isMemoryLow) log.info(this.#logFields(), 'memory is no longer short')
  }

  get #evictedBytes(): number {
    return [...this.#evictedBytesByCache.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  #logFields() {
    const { limitBytes, readUsage } = this.#options
    const { usedBytes, heapBytes, heapLimitBytes } = readUsage()
    return {
      used_mb: toMebibytes(usedBytes),
      limit_mb: toMebibytes(limitBytes),
      heap_mb: toMebibytes(heapBytes),
      heap_limit_mb: toMebibytes(heapLimitBytes),
    }
  }
}

const getExcess = (
  usedBytes: number,
  limitBytes: number,
  { start, end }: typeof processThresholds,
): number => (usedBytes > limitBytes * start ? Math.ceil(usedBytes - limitBytes * end) : 0)

const toMebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20)

const getName = ({ owner, cache }: OwnedCache): string => `${owner}.${cache.name}`
