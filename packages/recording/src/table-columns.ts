import ndarray from 'ndarray'
import type { Connection } from './connection.ts'
import { type RawRow, type Selection, type Source, selectFrom, xyz } from './selection.ts'
import type { FlatRows } from './window-types.ts'

/** Reads the rows of a table between two frames, in frame order, a number a column; the first column is the frame. */
export type ReadColumns = (first: number, last: number) => readonly RawRow[]

/** A table of a window as the recorder wrote it: which columns, in the order in which they stand in the window. */
export type Columns = (select: Selection, root: Source) => void

/** Prepares the reading of a table by ranges of frames; a table that the file lacks has no rows. */
export function columnReader(
  { db, era, bounds, isIndexed }: Connection,
  table: string | undefined,
  columns: Columns,
): ReadColumns {
  if (table === undefined) return () => []
  const select = selectFrom(era.schema, table)
  select.column(select.root, 'frame_id')
  columns(select, select.root)
  const statement = (rest: string) => db.prepare<number[], RawRow>(select.sql(rest)).raw()
  // In frame order a range of rowids is one scan; the index would cost a look-up a row.
  const byRow = statement('WHERE t.id BETWEEN ? AND ? AND +t.frame_id BETWEEN ? AND ? ORDER BY t.id')
  const byFrame = statement(
    'WHERE t.frame_id BETWEEN ? AND ? AND t.id BETWEEN ? AND ? ORDER BY t.frame_id, t.id',
  )
  return (first, last) => {
    if (bounds.isOrdered(table)) return byRow.all(...bounds.frames(table, first, last), first, last)
    const within = isIndexed() ? everyId : bounds.frames(table, first, last)
    return byFrame.all(first, last, ...within)
  }
}

const everyId = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const

/** Adds the three components of a vector. */
export const vectorColumns = (select: Selection, from: Source, ...names: readonly string[]): void => {
  for (const name of names) select.leaf(from, name, 'Vector3DRecord', xyz)
}

/** A recorded number for a window: NaN where it is absent; the infinities stay, they are findings. */
export const numberAt = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)

/** Packs rows behind each other; rows of frames that have no frame row are left out. */
export function flatRows(
  rows: readonly RawRow[],
  rowOf: ReadonlyMap<number, number>,
  width: number,
): FlatRows {
  const offset = new Uint32Array(rowOf.size + 1)
  const known = rows.filter((row) => rowOf.has(numberAt(row[0])))
  const data = new Float64Array(known.length * width)
  let at = 0
  for (const row of known) {
    const frame = rowOf.get(numberAt(row[0])) ?? 0
    offset[frame + 1] = (offset[frame + 1] ?? 0) + 1
    for (let i = 0; i < width; i++) data[at++] = numberAt(row[i + 1])
  }
  for (let frame = 0; frame < rowOf.size; frame++)
    offset[frame + 1] = (offset[frame + 1] ?? 0) + (offset[frame] ?? 0)
  return { offset, data: ndarray(data, [known.length, width]) }
}
