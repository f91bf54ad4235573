import { existsSync } from 'node:fs'
import { listBodyIds } from '../domain/body-id.ts'
import {
  type ColumnsFile,
  ColumnsWriter,
  columnsFilePath,
  openColumns,
  startColumns,
} from '../formats/columns-file.ts'
import { readTables } from '../formats/schema-era.ts'
import type { BodyId } from '../types.ts'
import { connect, openCopy } from './cpp/connection.ts'
import { frameReader } from './cpp/frame-reader.ts'
import { readExtents, readOutlines } from './cpp/mesh-reader.ts'
import { pairReader } from './cpp/pair-reader.ts'
import { seriesReader } from './cpp/series-reader.ts'
import { readSummary } from './cpp/summary.ts'
import type { Reader } from './reader.ts'
import { isRun, openRunReader } from './run/run-reader.ts'
import { recordingWindows } from './windows.ts'

export function openReader(file: string): Reader {
  const db = openCopy(file)
  if (isRun(db)) return openRunReader(db)
  const connection = connect(db)
  const frame = frameReader(connection)
  const path = columnsFilePath(file)
  let columns: ColumnsFile | undefined
  const storeColumns = (bodies: readonly BodyId[]) => ({
    open: () => {
      columns ??= openColumns(path, bodies)
      return columns
    },
    create: () => startColumns(path, bodies),
  })
  return {
    frame,
    pairHistory: pairReader(connection),
    ...seriesReader(connection),
    summary: () => readSummary(connection, frame),
    tables: () => readTables(db),
    extents: () => readExtents(connection),
    outlines: () => readOutlines(connection),
    windows(summary) {
      const bodies = listBodyIds(summary)
      return recordingWindows(connection, bodies, { file, columns: storeColumns(bodies) })
    },
    async writeColumns(target, call) {
      const bodies = listBodyIds(readSummary(connection, frame))
      const writer = new ColumnsWriter(target, bodies, 'background')
      try {
        const windows = recordingWindows(connection, bodies, { capBytes: 0 })
        for await (const window of windows.over({ start: null, end: null }, call)) {
          // Another request completed the file first.
          if (existsSync(target)) return
          writer.add(window)
        }
        writer.finish()
      } finally {
        writer.abandon()
      }
    },
    isIndexed: connection.isIndexed,
    refresh: connection.refresh,
    close() {
      columns?.close()
      db.close()
    },
  }
}
