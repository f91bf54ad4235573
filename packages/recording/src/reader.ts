import Database from 'better-sqlite3'
import { type ColumnsFile, columnsFileOf, openColumns, writeColumns } from './columns-file.ts'
import type { Connection } from './connection.ts'
import { eraMap, readSchema, readTables } from './era.ts'
import { frameReader } from './frame-reader.ts'
import { readExtents } from './geometry-reader.ts'
import { isIndexed } from './indexes.ts'
import { pairReader } from './pair-reader.ts'
import type { Reader } from './reader-contract.ts'
import { isRun, openRunReader } from './recorder/run-reader.ts'
import { rowBounds } from './row-bounds.ts'
import { seriesReader } from './series-reader.ts'
import { readSummary } from './summary.ts'
import type { RecordingSummary } from './types.ts'
import { recordingWindows } from './windows.ts'

/** Bytes of the page cache, in KiB and negative as SQLite wants it. */
const cacheKib = -65_536

/** Largest mapping that SQLite accepts. */
const mmapBytes = 0x7fff_0000

/** Opens a private copy for reading. The file is ours alone: nothing else may read it except through SQLite. */
export function openReader(file: string): Reader {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  db.pragma(`cache_size = ${cacheKib}`)
  db.pragma(`mmap_size = ${mmapBytes}`)
  // Without it a scan of a table that has no index yet may build one of its own, in memory, each time.
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
      const bodies = bodyIds(summary)
      columns ??= openColumns(columnsFileOf(file), bodies)
      return recordingWindows(connection, bodies, { columns })
    },
    writeColumns(target, call) {
      const bodies = bodyIds(readSummary(connection, frame))
      // Each window is needed once.
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

/** Bodies that have states or energies, ascending. */
const bodyIds = ({ bodies, appearances }: RecordingSummary): readonly number[] =>
  [...new Set([...bodies, ...appearances].map(({ body_id }) => body_id))].sort((a, b) => a - b)
