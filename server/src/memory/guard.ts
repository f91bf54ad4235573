/** The guard over the memory of the process: caches give back before it is short, and new work waits while it is. */
import type { Logger } from 'pino'
import { isOver, type MemoryState, memoryNeed } from '../domain/memory-need.ts'
import { type CacheReport, type Caches, nameOf, type OwnedCache } from './caches.ts'
import type { MemoryReading } from './reading.ts'

/** For `/health`. */
export interface MemoryReport {
  /** `ok`, or `short` while requests are answered one at a time. */
  readonly status: 'ok' | 'short'
  readonly used_bytes: number
  /** 0 where there is no limit. */
  readonly limit_bytes: number
  readonly heap_bytes: number
  readonly heap_limit_bytes: number
  readonly given_back_bytes: number
  readonly caches: Readonly<Record<string, CacheReport>>
}

/** The guard. */
export interface MemoryGuard {
  /** True while the process has more than it may have, though every cache gave what it could. */
  isShort(): boolean
  /** Looks now; the guard does so every second. */
  look(): Promise<void>
  report(): Promise<MemoryReport>
  /** Looks no more; waits for the look under way. */
  close(): Promise<void>
}

/** What it guards, and by what. */
export interface GuardOptions {
  readonly caches: Caches
  /** 0: none. */
  readonly limitBytes: number
  readonly read: () => MemoryReading
  /** Collects garbage, so that what was given back can be seen. */
  readonly collect: () => void
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Between two looks, ms. */
  readonly everyMs?: number
}

/** Least time between two collections, looks: where something was given back, and where nothing was. */
const collectEvery = { given: 5, nothing: 30 }

/** Looks between two lines of the log about the same. */
const tellEvery = 60

/** Opens the guard. */
export function openMemoryGuard(options: GuardOptions): MemoryGuard {
  const { caches, limitBytes, read, collect, log, everyMs = 1000 } = options
  let isShort = false
  let wasOver = false
  let givenBytes = 0
  let looks = 0
  let collectedAt = Number.NEGATIVE_INFINITY
  let toldAt = Number.NEGATIVE_INFINITY
  let untold: Record<string, number> = {}
  let looking: Promise<void> | undefined

  const state = (): MemoryState => ({ ...read(), limitBytes })

  const ask = async (owned: OwnedCache, bytes: number): Promise<number> => {
    const given = await caches.ask(owned, bytes)
    if (given <= 0) return 0
    givenBytes += given
    untold[nameOf(owned)] = (untold[nameOf(owned)] ?? 0) + given
    return given
  }

  /** Asks one after the other, the cheapest first, until there is enough. */
  const giveBack = async (from: readonly OwnedCache[], bytes: number): Promise<void> => {
    let left = bytes
    for (const owned of from.toSorted((a, b) => a.cache.costMs - b.cache.costMs)) {
      if (left <= 0) return
      left -= await ask(owned, left)
    }
  }

  const keepWithinCaps = async (): Promise<void> => {
    for (const owned of caches.all()) {
      const over = (await caches.bytesOf(owned)) - owned.cache.mostBytes
      if (over > 0) await ask(owned, over)
    }
  }

  const tell = (): void => {
    if (Object.keys(untold).length === 0 || looks - toldAt < tellEvery) return
    toldAt = looks
    log.info({ ...inMegabytes(state()), given_back: untold }, 'caches gave back memory')
    untold = {}
  }

  const collectAtTimes = (isGiven: boolean): void => {
    if (looks - collectedAt < (isGiven ? collectEvery.given : collectEvery.nothing)) return
    collectedAt = looks
    collect()
  }

  const settle = (): void => {
    const now = state()
    const was = isShort
    // One look over the limit may be a call that is over by the next.
    isShort = isOver(now) && (wasOver || was)
    wasOver = isOver(now)
    if (isShort && !was)
      log.warn(inMegabytes(now), 'memory is short: requests are answered one at a time until it is not')
    if (was && !isShort) log.info(inMegabytes(now), 'memory is no longer short')
  }

  const lookOnce = async (): Promise<void> => {
    looks += 1
    await keepWithinCaps()
    const { anyBytes, heapBytes } = memoryNeed(state())
    if (heapBytes > 0)
      await giveBack(
        caches.all().filter(({ cache }) => cache.isInHeap),
        heapBytes,
      )
    if (anyBytes > 0) {
      const before = givenBytes
      await giveBack(caches.all(), anyBytes)
      collectAtTimes(givenBytes > before)
    }
    tell()
    settle()
  }

  const look = (): Promise<void> => {
    looking ??= lookOnce().finally(() => {
      looking = undefined
    })
    return looking
  }
  const timer = setInterval(() => {
    look().catch((err: unknown) => log.warn({ err }, 'the look at the memory failed'))
  }, everyMs).unref()

  return {
    isShort: () => isShort,
    look,
    async report() {
      const { usedBytes, heapBytes, heapLimitBytes } = state()
      return {
        status: isShort ? 'short' : 'ok',
        used_bytes: usedBytes,
        limit_bytes: limitBytes,
        heap_bytes: heapBytes,
        heap_limit_bytes: heapLimitBytes,
        given_back_bytes: givenBytes,
        caches: await caches.report(),
      }
    },
    async close() {
      clearInterval(timer)
      await looking?.catch(() => {})
    },
  }
}

const inMegabytes = ({ usedBytes, limitBytes, heapBytes, heapLimitBytes }: MemoryState) => ({
  used_mb: Math.round(usedBytes / 2 ** 20),
  limit_mb: Math.round(limitBytes / 2 ** 20),
  heap_mb: Math.round(heapBytes / 2 ** 20),
  heap_limit_mb: Math.round(heapLimitBytes / 2 ** 20),
})
