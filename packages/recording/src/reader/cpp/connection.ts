import Database from 'better-sqlite3'
import { type EraMap, makeEraMap, readSchema } from '../../formats/schema-era.ts'
import type { ReadRecord } from '../frame-records.ts'
import { isIndexed } from './indexes.ts'
import { allRows, createRowBounds, type RowBounds } from './row-bounds.ts'
import { type RawRow, type Selection, selectFrom } from './selection.ts'

export interface Connection {
  readonly db: Database.Database
  readonly era: EraMap
  readonly bounds: RowBounds
  /** Whether all indexes exist, so that the rows of a frame are found without bounds. */
  readonly isIndexed: () => boolean
}

/** SQLite interprets a negative number as KiB. */
const cacheKib = -65_536

const mmapBytes = 0x7fff_0000

/** Opens a private copy or a run. Other code must not open these files: closing them would release SQLite's locks. */
export function openCopy(file: string): Database.Database {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  db.pragma(`cache_size = ${cacheKib}`)
  db.pragma(`mmap_size = ${mmapBytes}`)
  // Otherwise SQLite may build a temporary index for each scan.
  db.pragma('automatic_index = OFF')
  return db
}

/** `refresh` detects new indexes. */
export function connect(db: Database.Database): Connection & { refresh(): void } {
  const era = makeEraMap(readSchema(db))
  let indexed = isIndexed(db, era)
  return {
    db,
    era,
    bounds: createRowBounds(db),
    isIndexed: () => indexed,
    refresh: () => {
      indexed = isIndexed(db, era)
    },
  }
}

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
  return (frame) => statement.all(frame, ...(isIndexed() ? allRows : bounds.frames(table, frame, frame)))
}

export type ReadRows<Row> = (frame: number) => readonly Row[]

/** `fill` selects the columns that `read` expects, in their order. */
export function createRowReader<Row>(
  connection: Connection,
  table: string | undefined,
  read: ReadRecord<Row>,
  fill: (select: Selection) => void,
): ReadRows<Row> {
  if (table === undefined) return () => []
  const select = selectFrom(connection.era.schema, table)
  fill(select)
  const rows = prepareFrameRows(connection, select)
  return (frame) => rows(frame).map((row) => read(row, 0))
}
