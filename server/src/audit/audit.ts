import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ClockJumpDetector } from '@causeway/store'
import type { Logger } from 'pino'
import type { AuditEntry } from './audit-entry.ts'
import type { AuditPage, AuditQuery, AuditStore, StoredEntry } from './audit-store.ts'

interface AuditOptions {
  readonly store: AuditStore
  readonly keepDays: number
  readonly maxRows: number
  readonly log: Logger
  /** Unix milliseconds. */
  readonly now: () => number
  /** Monotonic milliseconds. */
  readonly monotonicNow?: () => number
  readonly onFailure?: (error: unknown) => void
  readonly onWritten?: ((entries: readonly AuditEntry[]) => void) | undefined
}

/** A crash loses at most the entries of this period. */
const flushDelayMs = 200
const batchSize = 250
const maxPendingEntries = 50_000
const trimIntervalMs = 60 * 60 * 1000
const trimBatchSize = 2000
const dayMs = 24 * 60 * 60 * 1000
const maxSessionNames = 1000

/** Writes entries in batches, so that calls do not wait for the database. */
export class Audit {
  readonly #options: AuditOptions
  readonly #jumps: ClockJumpDetector
  readonly #pendingEntries: AuditEntry[] = []
  readonly #sessionNames = new Map<string, string>()
  readonly #trimTimer: NodeJS.Timeout
  #flushTimer: NodeJS.Timeout | undefined
  #lastWrite: Promise<void> = Promise.resolve()
  #droppedCount = 0
  #failure: unknown

  constructor(options: AuditOptions) {
    const { now, monotonicNow = now } = options
    this.#options = options
    this.#jumps = new ClockJumpDetector({ now, monotonicNow })
    void this.#trim()
    this.#trimTimer = setInterval(() => void this.#trim(), trimIntervalMs).unref()
  }

  add(entry: AuditEntry): void {
    if (this.#pendingEntries.length >= maxPendingEntries) {
      this.#pendingEntries.shift()
      this.#droppedCount += 1
    }
    this.#pendingEntries.push(entry)
    this.#flushTimer ??= setTimeout(() => void this.#flush(), flushDelayMs).unref()
  }

  async readPage(query: AuditQuery): Promise<AuditPage> {
    await this.#flush()
    return this.#options.store.readPage(query)
  }

  async query(query: AuditQuery): Promise<readonly StoredEntry[]> {
    return (await this.readPage(query)).entries
  }

  /** Returns a digest, because the key is a secret. */
  getSessionName(sessionKey: string): string {
    const cachedName = this.#sessionNames.get(sessionKey)
    if (cachedName !== undefined) return cachedName
    const name = createHash('sha256').update(sessionKey).digest('hex').slice(0, 12)
    if (this.#sessionNames.size >= maxSessionNames) this.#sessionNames.clear()
    this.#sessionNames.set(sessionKey, name)
    return name
  }

  /** Retries a failed write. Resolves to its error if it fails again. */
  async retry(): Promise<unknown> {
    if (this.#failure !== undefined) await this.#flush()
    return this.#failure
  }

  report(): Readonly<Record<string, unknown>> {
    const { keepDays, maxRows } = this.#options
    return {
      keep_days: keepDays,
      max_rows: maxRows,
      waiting: this.#pendingEntries.length,
      dropped: this.#droppedCount,
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#trimTimer)
    await this.#flush()
    const lostCount = this.#pendingEntries.length
    if (lostCount > 0) this.#options.log.error({ lost: lostCount }, 'audit entries were lost')
  }

  #flush(): Promise<void> {
    const { log, onFailure } = this.#options
    clearTimeout(this.#flushTimer)
    this.#flushTimer = undefined
    this.#lastWrite = this.#lastWrite
      .then(() => this.#writeAll())
      .catch((err: unknown) => {
        if (this.#failure === undefined)
          log.error({ err, waiting: this.#pendingEntries.length }, 'the audit cannot be written')
        this.#failure = err
        onFailure?.(err)
      })
    return this.#lastWrite
  }

  async #writeAll(): Promise<void> {
    const { store, onWritten } = this.#options
    // Later entries wait for the next flush: waiting for an empty queue would write small batches under load.
    for (let remaining = this.#pendingEntries.length; remaining > 0; remaining -= batchSize) {
      const entries = this.#pendingEntries.slice(0, Math.min(remaining, batchSize))
      await store.append(entries)
      this.#pendingEntries.splice(0, entries.length)
      onWritten?.(entries)
      this.#failure = undefined
      await nextTurn()
    }
  }

  async #trim(): Promise<void> {
    const { store, keepDays, maxRows, log, now, onFailure } = this.#options
    // After a clock jump, waits for the next interval, because a wrong clock may be corrected by then.
    if (this.#jumps.detect() > 0) return
    try {
      const limits = { beforeMs: now() - keepDays * dayMs, keep: maxRows, limit: trimBatchSize }
      while ((await store.trim(limits)) === trimBatchSize) await nextTurn()
    } catch (err) {
      log.warn({ err }, 'the audit was not trimmed')
      onFailure?.(err)
    }
  }
}
