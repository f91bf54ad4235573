import { existsSync } from 'node:fs'
import { listBodyIds } from '../domain/body-id.ts'
import {
  type ColumnsReader,
  ColumnsWriter,
  createColumnsWriter,
  getColumnsFilePath,
  openColumns,
} from '../formats/columns-file.ts'
import { readTables } from '../formats/schema-era.ts'
import type { BodyId } from '../types.ts'
import { connect, openCopy } from './cpp/connection.ts'
import { prepareFrameReader } from './cpp/frame-reader.ts'
import { readExtents, readOutlines } from './cpp/mesh-reader.ts'
import { createPairReader } from './cpp/pair-reader.ts'
import { createSeriesReader } from './cpp/series-reader.ts'
import { readSummary } from './cpp/summary.ts'
import type { Reader } from './reader.ts'
import { isRun, openRunReader } from './run/run-reader.ts'
import { createRecordingWindows } from './windows.ts'

export function openReader(file: string): Reader {
  const db = openCopy(file)
  if (isRun(db)) return openRunReader(db)
  const connection = connect(db)
  const frame = prepareFrameReader(connection)
  const path = getColumnsFilePath(file)
  let columns: ColumnsReader | undefined
  const storeColumns = (bodies: readonly BodyId[]) => ({
    open: () => {
      columns ??= openColumns(path, bodies)
      return columns
    },
    create: () => createColumnsWriter(path, bodies),
  })
  return {
    frame,
    pairHistory: createPairReader(connection),
    ...createSeriesReader(connection),
    summary: () => readSummary(connection, frame),
    tables: () => readTables(db),
    extents: () => readExtents(connection),
    outlines: () => readOutlines(connection),
    windows(summary) {
      const bodies = listBodyIds(summary)
      return createRecordingWindows(connection, bodies, { file, columns: storeColumns(bodies) })
    },
    async writeColumns(target, call) {
      const bodies = listBodyIds(readSummary(connection, frame))
      const writer = new ColumnsWriter(target, bodies, 'background')
      try {
        const windows = createRecordingWindows(connection, bodies, { maxBytes: 0 })
        for await (const window of windows.over({ start: null, end: null }, call)) {
          // Another request completed the file first.
          if (existsSync(target)) return
          writer.add(window)
        }
        writer.finish()
      } finally {
        writer.discard()
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
