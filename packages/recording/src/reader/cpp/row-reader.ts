import { bodyEnergyFields } from '../../formats/fields.ts'
import type { BodyId } from '../../types.ts'
import type { Connection } from './connection.ts'
import { type RawRow, type Selection, type Source, selectFrom } from './selection.ts'

/** Reads rows of a table in a range of frames. The first value of a row is the frame id. */
export interface RowReader {
  /** Returns rows in frame order. */
  readonly read: (first: number, last: number) => readonly RawRow[]
  readonly write: (row: RawRow, block: Float64Array, at: number) => void
}

/** Maps the columns of a table to the columns of a block. */
export class RowLayout {
  readonly root: Source
  readonly #select: Selection
  readonly #values: number[] = []
  readonly #columns: number[] = []

  constructor(select: Selection) {
    this.#select = select
    this.root = select.root
  }

  join(column: string, table: string): Source {
    return this.#select.join(this.root, column, table)
  }

  /** Selects a column without writing it to the block. Returns its position in the row. */
  read(name: string): number {
    return this.#select.column(this.root, name)
  }

  columns(names: readonly string[], to: number): void {
    names.forEach((name, i) => {
      this.#fill(this.read(name), to + i, 1)
    })
  }

  /** Writes the row that `<name>_id` refers to. Returns the position of its first value. */
  leaf(from: Source, name: string, target: Leaf, to: number): number {
    const value = this.readLeaf(from, name, target)
    this.#fill(value, to, target.components.length)
    return value
  }

  readLeaf(from: Source, name: string, { table, components }: Leaf): number {
    return this.#select.leaf(from, name, table, components)
  }

  readonly write: RowReader['write'] = (row, block, at) => {
    const [values, columns] = [this.#values, this.#columns]
    for (let i = 0; i < values.length; i++)
      block[at + (columns[i] as number)] = toNumber(row[values[i] as number])
  }

  #fill(value: number, to: number, count: number): void {
    for (let i = 0; i < count; i++) {
      this.#values.push(value + i)
      this.#columns.push(to + i)
    }
  }
}

interface Leaf {
  readonly table: string
  readonly components: readonly string[]
}

/** `fill` selects the columns; rows that do not meet `condition` are skipped. */
export function prepareRows(
  { db, era, bounds, isIndexed }: Connection,
  table: string | undefined,
  fill: (layout: RowLayout) => void,
  condition?: { readonly sql: string; readonly values: readonly number[] },
): RowReader {
  if (table === undefined) return noRows
  const select = selectFrom(era.schema, table)
  select.column(select.root, 'frame_id')
  const layout = new RowLayout(select)
  fill(layout)
  const { sql = '', values = [] } = condition ?? {}
  const prepareStatement = (where: string, order: string) =>
    db.prepare<number[], RawRow>(select.sql(`WHERE ${where} ${sql} ORDER BY ${order}`)).raw()
  // A range of rowids is one scan. The index would need a look-up per row.
  const byRow = prepareStatement('t.id BETWEEN ? AND ? AND +t.frame_id BETWEEN ? AND ?', 't.id')
  const byFrame = prepareStatement('t.frame_id BETWEEN ? AND ? AND t.id BETWEEN ? AND ?', 't.frame_id, t.id')
  return {
    read(first, last) {
      if (bounds.isOrdered(table))
        return byRow.all(...bounds.frames(table, first, last), first, last, ...values)
      const rowRange = isIndexed() ? allIds : bounds.frames(table, first, last)
      return byFrame.all(first, last, ...rowRange, ...values)
    },
    write: layout.write,
  }
}

const allIds = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const

export const noRows: RowReader = { read: () => [], write: () => {} }

/** Returns NaN if not recorded. Preserves infinities. */
export const toNumber = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)

/** The second value of a row is the body id. */
export const prepareEnergies = (connection: Connection, bodies?: readonly BodyId[]): RowReader =>
  prepareRows(
    connection,
    connection.era.parts.bodyEnergy,
    (layout) => {
      layout.read('body_id')
      layout.columns(bodyEnergyFields, 0)
    },
    bodies && { sql: `AND t.body_id IN (${listMarks(bodies)})`, values: bodies },
  )

export const listMarks = (values: readonly unknown[]): string => values.map(() => '?').join()
