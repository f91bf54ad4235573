import Database from 'better-sqlite3'
import { listBodyIds } from '../domain/body-id.ts'
import { type ColumnsFile, columnsFilePath, openColumns, writeColumns } from '../formats/columns-file.ts'
import { eraMap, readSchema, readTables } from '../formats/schema-era.ts'
import { readExtents } from './cpp/body-reader.ts'
import type { Connection } from './cpp/connection.ts'
import { frameReader } from './cpp/frame-reader.ts'
import { isIndexed } from './cpp/indexes.ts'
import { pairReader } from './cpp/pair-reader.ts'
import { rowBounds } from './cpp/row-bounds.ts'
import { seriesReader } from './cpp/series-reader.ts'
import { readSummary } from './cpp/summary.ts'
import type { Reader } from './reader.ts'
import { isRun, openRunReader } from './run/run-reader.ts'
import { recordingWindows } from './windows.ts'

/** Size of the page cache in KiB; SQLite expects a negative number. */
const cacheKib = -65_536

/** Maximum size of a memory map in SQLite. */
const mmapBytes = 0x7fff_0000

/** Opens a private copy or a run. Nothing else may read the file except through SQLite. */
export function openReader(file: string): Reader {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  db.pragma(`cache_size = ${cacheKib}`)
  db.pragma(`mmap_size = ${mmapBytes}`)
  // Otherwise SQLite may build an index in memory for each scan of a table without indexes.
  db.pragma('automatic_index = OFF')
  if (isRun(db)) return openRunReader(db)
  const era = eraMap(readSchema(db))
  let indexed = isIndexed(db, era)
  const connection: Connection = { db, era, bounds: rowBounds(db), isIndexed: () => indexed }
  const frame = frameReader(connection)
  let columns: ColumnsFile | undefined
  return {
    frame,
    pairHistory: pairReader(connection),
    ...seriesReader(connection),
    summary: () => readSummary(connection, frame),
    tables: () => readTables(db),
    extents: () => readExtents(connection),
    windows(summary) {
      const bodies = listBodyIds(summary)
      columns ??= openColumns(columnsFilePath(file), bodies)
      return recordingWindows(connection, bodies, { columns })
    },
    writeColumns(target, call) {
      const bodies = listBodyIds(readSummary(connection, frame))
      const windows = recordingWindows(connection, bodies, { capBytes: 0 })
      return writeColumns(target, bodies, windows.over({ start: null, end: null }, call))
    },
    isIndexed: () => indexed,
    refresh: () => {
      indexed = isIndexed(db, era)
    },
    close() {
      columns?.close()
      db.close()
    },
  }
}
