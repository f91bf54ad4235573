import type { Database } from 'better-sqlite3'
import type { EraMap } from '../../formats/schema-era.ts'
import { everyRow, type RowBounds } from './row-bounds.ts'
import type { RawRow, Selection } from './selection.ts'

export interface Connection {
  readonly db: Database
  readonly era: EraMap
  readonly bounds: RowBounds
  /** Whether all indexes exist, so that rows of a frame are found without bounds. */
  readonly isIndexed: () => boolean
}

/** Prepares a reader of the rows of one frame, with or without an index. */
export function prepareFrameRows(
  { db, bounds, isIndexed }: Connection,
  select: Selection,
): (frame: number) => RawRow[] {
  const { table } = select.root
  const statement = db
    .prepare<[number, number, number], RawRow>(
      select.sql('WHERE t.frame_id = ? AND t.id BETWEEN ? AND ? ORDER BY t.id'),
    )
    .raw()
  return (frame) => statement.all(frame, ...(isIndexed() ? everyRow : bounds.frames(table, frame, frame)))
}
