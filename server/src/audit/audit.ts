/**
 * The audit: one entry for each tool call, from whichever channel. Entries are gathered and written a few times a
 * second, so that a call waits for none; an orderly stop writes the last ones.
 */
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { watchJumps } from '@causeway/store'
import type { Logger } from 'pino'
import type { AuditEntry } from '../domain/audit-entry.ts'
import type { AuditQuery, AuditStore, StoredEntry } from './audit-store.ts'

/** The audit of one server. */
export interface Audit {
  add(entry: AuditEntry): void
  /** Newest first, those that were added just now included. */
  query(query: AuditQuery): Promise<readonly StoredEntry[]>
  /** Names a client by a digest of its session key: the key itself is as good as a password. */
  sessionName(sessionKey: string): string
  /** Writes again what could not be written. Resolves to the error if it still fails. */
  retry(): Promise<unknown>
  /** For `/health`. */
  report(): Readonly<Record<string, unknown>>
  /** Writes what is left. */
  close(): Promise<void>
}

/** How long entries are kept, and where else they go. */
export interface AuditOptions {
  readonly store: AuditStore
  readonly keepDays: number
  readonly maxRows: number
  readonly log: Logger
  readonly now: () => number
  /** The time that passes, ms; default: the time of day. */
  readonly steady?: () => number
  /** Receives every failure to write or trim. */
  readonly onFailure?: (error: unknown) => void
  /** Gets each entry as it is written: the rolling file. */
  readonly also?: ((entry: AuditEntry) => void) | undefined
}

/** A crash can lose what was added within this time, ms. */
const gatherMs = 200
/** Entries of one transaction: a few milliseconds of the event loop. */
const batch = 250
/** Entries that wait while the disk takes none; beyond it the oldest are dropped, and counted. */
const maxWaiting = 50_000
const trimMs = 60 * 60 * 1000
const trimBatch = 2000
const dayMs = 24 * 60 * 60 * 1000

/** Opens the audit; what is too old is removed behind. */
export function openAudit({
  store,
  keepDays,
  maxRows,
  log,
  now,
  steady = now,
  also,
  onFailure,
}: AuditOptions): Audit {
  const jumped = watchJumps({ now, steady })
  const waiting: AuditEntry[] = []
  const names = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let dropped = 0
  /** Error of the last attempt to write; `undefined` if it succeeded. */
  let failure: unknown

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const entries = waiting.slice(0, batch)
      await store.append(entries)
      waiting.splice(0, entries.length)
      if (also !== undefined) for (const entry of entries) also(entry)
      failure = undefined
      await turn()
    }
  }

  const write = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(writeAll).catch((err: unknown) => {
      // Said once, not with every call, until it works again.
      if (failure === undefined) log.error({ err, waiting: waiting.length }, 'the audit cannot be written')
      failure = err
      onFailure?.(err)
    })
    return writing
  }

  const trim = async (): Promise<void> => {
    // A clock that was set may be set right again: it is believed once it has lasted until the next time.
    if (jumped() > 0) return
    const limits = { beforeMs: now() - keepDays * dayMs, keep: maxRows, limit: trimBatch }
    while ((await store.trim(limits)) === trimBatch) await turn()
  }
  const trimBehind = (): void =>
    void trim().catch((err: unknown) => {
      log.warn({ err }, 'the audit was not trimmed')
      onFailure?.(err)
    })
  trimBehind()
  const trimming = setInterval(trimBehind, trimMs).unref()

  return {
    add(entry) {
      if (waiting.length >= maxWaiting) {
        waiting.shift()
        dropped += 1
      }
      waiting.push(entry)
      timer ??= setTimeout(write, gatherMs).unref()
    },
    async query(query) {
      await write()
      return store.query(query)
    },
    sessionName(sessionKey) {
      const known = names.get(sessionKey)
      if (known !== undefined) return known
      const name = createHash('sha256').update(sessionKey).digest('hex').slice(0, 12)
      if (names.size >= 1000) names.clear()
      names.set(sessionKey, name)
      return name
    },
    async retry() {
      if (failure !== undefined) await write()
      return failure
    },
    report: () => ({ keep_days: keepDays, max_rows: maxRows, waiting: waiting.length, dropped }),
    async close() {
      clearInterval(trimming)
      await write()
      if (waiting.length > 0) log.error({ lost: waiting.length }, 'entries of the audit were lost')
    },
  }
}
