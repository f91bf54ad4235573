import type { Database } from 'better-sqlite3'
import { looksMonotone, lowerBound, type Probe, type RowSpan } from './domain/row-search.ts'

/** Rowids between which the rows of some frames stand, both included. */
export type Bounds = readonly [low: number, high: number]

/** Finds where the rows of a frame stand in tables that have no index. */
export interface RowBounds {
  /** Bounds of the rows with `first <= frame_id <= last`; all rows where the order of the table cannot be trusted. */
  frames(table: string, first: number, last: number): Bounds
  /** Bounds of the link rows of consecutive parents. */
  links(table: string, column: string, first: number, last: number): Bounds
  /** True where the rows of the table stand in frame order. */
  isOrdered(table: string): boolean
}

/** Every rowid: the SQL then filters by its own condition alone. */
export const everyRow: Bounds = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]

/** Probes that decide at first use whether a table is in key order. */
const guardProbes = 256

interface Order {
  readonly probe: Probe
  readonly span: RowSpan | null
  readonly isOrdered: boolean
}

/**
 * Binary search by rowid: the recorder appends every table in frame order. A table that turns out not to be in
 * order answers `everyRow`, which costs a scan until the indexes are there.
 */
export function rowBounds(db: Database): RowBounds {
  const orders = new Map<string, Order>()

  const orderOf = (table: string, column: string): Order => {
    const known = orders.get(`${table}.${column}`)
    if (known) return known
    const found = readOrder(db, table, column)
    orders.set(`${table}.${column}`, found)
    return found
  }

  const find = (table: string, column: string, first: number, last: number): Bounds => {
    const { probe, span, isOrdered } = orderOf(table, column)
    if (!isOrdered) return everyRow
    if (span === null) return [0, -1]
    return [lowerBound(probe, span, first), lowerBound(probe, span, last + 1) - 1]
  }

  return {
    frames: (table, first, last) => find(table, 'frame_id', first, last),
    links: find,
    isOrdered: (table) => orderOf(table, 'frame_id').isOrdered,
  }
}

function readOrder(db: Database, table: string, column: string): Order {
  const ends = db
    .prepare<[], { first: number | null; last: number | null }>(
      `SELECT (SELECT min(rowid) FROM "${table}") AS first, (SELECT max(rowid) FROM "${table}") AS last`,
    )
    .get()
  const next = db
    .prepare<[number], [number, number | null]>(
      `SELECT rowid, "${column}" FROM "${table}" WHERE rowid >= ? ORDER BY rowid LIMIT 1`,
    )
    .raw()
  const probe: Probe = (id) => {
    const row = next.get(id)
    return row && { id: row[0], key: row[1] ?? Number.NaN }
  }
  if (ends?.first == null || ends.last == null) return { probe, span: null, isOrdered: true }
  const span = { first: ends.first, last: ends.last }
  return { probe, span, isOrdered: looksMonotone(probe, span, guardProbes) }
}
