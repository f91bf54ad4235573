import type { Database } from 'better-sqlite3'
import { findLowerBound, isMonotonic, type Probe, type RowSpan } from '../../domain/row-search.ts'

export type Bounds = readonly [low: number, high: number]

export interface RowBounds {
  /** Returns `allRows` if the table is not in frame order. */
  frames(table: string, first: number, last: number): Bounds
  links(table: string, column: string, first: number, last: number): Bounds
  isOrdered(table: string): boolean
}

export const allRows: Bounds = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]

const guardProbes = 256

interface Order {
  readonly probe: Probe
  readonly span: RowSpan | null
  readonly isOrdered: boolean
}

/**
 * Finds rowids by binary search, because the recorder appends in frame order. For unordered tables, returns `allRows`,
 * which costs a scan.
 */
export function createRowBounds(db: Database): RowBounds {
  const orders = new Map<string, Order>()

  const getOrder = (table: string, column: string): Order => {
    const cachedOrder = orders.get(`${table}.${column}`)
    if (cachedOrder) return cachedOrder
    const order = readOrder(db, table, column)
    orders.set(`${table}.${column}`, order)
    return order
  }

  const find = (table: string, column: string, first: number, last: number): Bounds => {
    const { probe, span, isOrdered } = getOrder(table, column)
    if (!isOrdered) return allRows
    if (span === null) return [0, -1]
    return [findLowerBound(probe, span, first), findLowerBound(probe, span, last + 1) - 1]
  }

  return {
    frames: (table, first, last) => find(table, 'frame_id', first, last),
    links: find,
    isOrdered: (table) => getOrder(table, 'frame_id').isOrdered,
  }
}

function readOrder(db: Database, table: string, column: string): Order {
  const rowRange = db
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
  if (rowRange?.first == null || rowRange.last == null) return { probe, span: null, isOrdered: true }
  const span = { first: rowRange.first, last: rowRange.last }
  return { probe, span, isOrdered: isMonotonic(probe, span, guardProbes) }
}
