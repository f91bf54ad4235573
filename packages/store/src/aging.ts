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
  // What the rows have been shifted by, told by a table of this connection alone: it is rolled back as they are.
  db.exec('CREATE TEMP TABLE aged (ms INTEGER NOT NULL); INSERT INTO aged VALUES (0)')
  const shifted = db.prepare<[], number>('SELECT ms FROM aged').pluck()
  const note = db.prepare<[number]>('UPDATE aged SET ms = ms + ?')
  const shifts = columns.map((place) => {
    const [table, column] = place.split('.')
    return db.prepare<[number, number]>(`UPDATE ${table} SET ${column} = ${column} + ? WHERE ${column} > ?`)
  })
  const shiftAll = db.transaction((ms: number, at: number) => {
    for (const shift of shifts) shift.run(ms, at - ms - keepMs)
    note.run(ms)
  })
  let hasJumped = false
  let total = 0
  return () => {
    const ms = jumped()
    hasJumped ||= ms !== 0
    total += ms
    const at = now()
    const owed = hasJumped ? total - (shifted.get() ?? 0) : 0
    if (owed !== 0) shiftAll(owed, at)
    return at
  }
}
