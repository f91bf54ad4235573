import type { Database } from 'better-sqlite3'
import type { EraMap } from './era.ts'
import { everyRow, type RowBounds } from './row-bounds.ts'

/** An open private copy, as the readers of its parts share it. */
export interface Connection {
  readonly db: Database
  readonly era: EraMap
  readonly bounds: RowBounds
  /** True once every index is built: a frame's rows are then found without bounds. */
  readonly isIndexed: () => boolean
}

/** Rowids between which the rows of one frame stand; no search where an index finds them. */
export const boundsOfFrame = ({ bounds, isIndexed }: Connection, table: string, frame: number) =>
  isIndexed() ? everyRow : bounds.frames(table, frame, frame)

/** What selects the rows of one frame; parameters: frame, then bounds. Works with an index and without. */
export const ofFrame = 'WHERE t.frame_id = ? AND t.id BETWEEN ? AND ? ORDER BY t.id'
