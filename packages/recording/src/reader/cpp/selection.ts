import type { Schema } from '../../formats/schema-era.ts'

/** A row's values, in the order of the selected columns. */
export type RawRow = readonly unknown[]

export const xyz = ['x', 'y', 'z'] as const

export const wxyz = ['w', 'x', 'y', 'z'] as const

export interface Source {
  readonly table: string
  readonly alias: string
}

/**
 * A SELECT of one table (alias `t`) with LEFT JOINed parts. Missing columns and tables are NULL. `column` and `leaf`
 * return positions in the row.
 */
export interface Selection {
  readonly root: Source
  /** Joins the row whose `key` (default `id`) equals a column of `from`. */
  join(from: Source, column: string, table: string, key?: string): Source
  column(from: Source, name: string): number
  columns(names: readonly string[]): void
  /** Selects the components of the row that `<name>_id` refers to. Returns the position of the first one. */
  leaf(from: Source, name: string, conventional: string, components: readonly string[]): number
  sql(clauses: string): string
}

export function selectFrom(schema: Schema, table: string): Selection {
  const root: Source = { table, alias: 't' }
  const columns: string[] = []
  const joins: string[] = []
  const pushColumns = (...expressions: readonly string[]) => columns.push(...expressions) - expressions.length
  const nameColumn = (from: Source, name: string) =>
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
    column: (from, name) => pushColumns(nameColumn(from, name)),
    columns: (names) => void pushColumns(...names.map((name) => nameColumn(root, name))),
    leaf(from, name, conventional, components) {
      const column = `${name}_id`
      const target = schema.target(from.table, column) ?? conventional
      if (!schema.has(from.table, column) || !schema.has(target, 'id'))
        return pushColumns(...components.map(() => 'NULL'))
      const source = join(from, column, target)
      return pushColumns(...components.map((component) => nameColumn(source, component)))
    },
    sql: (clauses) => `SELECT ${columns.join(', ')} FROM "${table}" t ${joins.join(' ')} ${clauses}`,
  }
}

export const readFlagAt = (row: ArrayLike<unknown>, at: number): boolean => row[at] === 1
