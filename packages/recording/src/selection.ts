import type { Schema } from './era.ts'
import type { Quaternion, Value, Vector } from './types.ts'

/** A row as better-sqlite3 gives it in raw mode: values in the order of the selected columns. */
export type RawRow = readonly unknown[]

/** Components of a vector row. */
export const xyz = ['x', 'y', 'z'] as const

/** Components of an orientation row; its rate is read in the same order, whatever the order of its columns. */
export const wxyz = ['w', 'x', 'y', 'z'] as const

/** A table in the FROM clause, under the alias that its columns are named by. */
export interface Source {
  readonly table: string
  readonly alias: string
}

/**
 * A SELECT with named columns over one table (alias `t`) and its LEFT JOINed parts. Columns and tables that this
 * file lacks read NULL. The numbers returned are positions in the raw row.
 */
export interface Selection {
  readonly root: Source
  /** Joins the row whose `key` (its id) equals a column of a source. */
  join(from: Source, column: string, table: string, key?: string): Source
  /** Position of a column. */
  column(from: Source, name: string): number
  /** Position of the first of the components of the row that `<name>_id` refers to. */
  leaf(from: Source, name: string, conventional: string, components: readonly string[]): number
  /** The statement; `rest` begins after the FROM clause. */
  sql(rest: string): string
}

/** Starts a selection from a table of the recording. */
export function selectFrom(schema: Schema, table: string): Selection {
  const root: Source = { table, alias: 't' }
  const columns: string[] = []
  const joins: string[] = []
  const push = (...expressions: readonly string[]) => columns.push(...expressions) - expressions.length
  const named = (from: Source, name: string) =>
    schema.has(from.table, name) ? `${from.alias}."${name}"` : 'NULL'
  const join = (from: Source, column: string, target: string, key = 'id'): Source => {
    const source = { table: target, alias: `j${joins.length}` }
    joins.push(
      `LEFT JOIN "${target}" ${source.alias} ON ${source.alias}."${key}" = ${from.alias}."${column}"`,
    )
    return source
  }
  return {
    root,
    join,
    column: (from, name) => push(named(from, name)),
    leaf(from, name, conventional, components) {
      const column = `${name}_id`
      const target = schema.target(from.table, column) ?? conventional
      if (!schema.has(from.table, column) || !schema.has(target, 'id'))
        return push(...components.map(() => 'NULL'))
      const source = join(from, column, target)
      return push(...components.map((component) => named(source, component)))
    },
    sql: (rest) => `SELECT ${columns.join(', ')} FROM "${table}" t ${joins.join(' ')} ${rest}`,
  }
}

/** A recorded number; NULL and what is not finite are null. */
export const valueAt = (row: RawRow, at: number): Value => {
  const value = row[at]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** An integer column; NULL is 0, the recorder's own default. */
export const countAt = (row: RawRow, at: number): number => valueAt(row, at) ?? 0

/** A boolean column, recorded as 0 or 1. */
export const flagAt = (row: RawRow, at: number): boolean => row[at] === 1

/** Three components from a position on. */
export const vectorAt = (row: RawRow, at: number): Vector => ({
  x: valueAt(row, at),
  y: valueAt(row, at + 1),
  z: valueAt(row, at + 2),
})

/** Four components, w first, from a position on. */
export const quaternionAt = (row: RawRow, at: number): Quaternion => ({
  w: valueAt(row, at),
  ...vectorAt(row, at + 1),
})
