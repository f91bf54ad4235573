import type { RecordingSummary, TableColumns } from '../types.ts'
import type { ReadFrame } from './cpp/frame-reader.ts'
import type { ReadPair } from './cpp/pair-reader.ts'
import type { SeriesReader } from './cpp/series-reader.ts'
import type { WindowCall, Windows } from './windows.ts'

/** Reads one private copy or run. Synchronous, because it runs in a worker. */
export interface Reader extends SeriesReader {
  readonly frame: ReadFrame
  readonly pairHistory: ReadPair
  summary(): RecordingSummary
  tables(): readonly TableColumns[]
  /** Returns half extents in m along the body axes, only of bodies with geometry. */
  extents(): ReadonlyMap<number, readonly [number, number, number]>
  /** Returns the outermost vertices of meshes that are not boxes, in m in body axes. */
  outlines(): ReadonlyMap<number, readonly (readonly [number, number, number])[]>
  windows(summary: RecordingSummary): Windows
  /** Whether all indexes exist. `refresh` updates this. */
  isIndexed(): boolean
  writeColumns(file: string, call: WindowCall): Promise<void>
  refresh(): void
  close(): void
}
