/** Rows that are kept for so long: their age is the time that has passed, whatever the clock was set to meanwhile. */
import type { Database } from 'better-sqlite3'
import { watchJumps } from './clock-jump.ts'

/** What ages. */
export interface AgingOptions {
  /** Columns that hold epoch ms, as `table.column`. */
  readonly columns: readonly string[]
  /** Rows older than this have no use left, ms; they stay as they are. */
  readonly keepMs: number
  /** Since the epoch, ms. */
  readonly now: () => number
  /** The clock that is never set; without it, the time of day is trusted. */
  readonly steady?: (() => number) | undefined
}

/**
 * The time of day, ms. Where it has jumped, by a clock that was set or a machine that slept, the times in the columns go with
 * it first, so that a row is as old as it was.
 */
export function agingNow(db: Database, { columns, keepMs, now, steady = now }: AgingOptions): () => number {
  const jumped = watchJumps({ now, steady })
  const shifts = columns.map((place) => {
    const [table, column] = place.split('.')
    return db.prepare<[number, number]>(`UPDATE ${table} SET ${column} = ${column} + ? WHERE ${column} > ?`)
  })
  return () => {
    const ms = jumped()
    const at = now()
    if (ms !== 0) for (const shift of shifts) shift.run(ms, at - ms - keepMs)
    return at
  }
}
