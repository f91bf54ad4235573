import type { ReadFrame } from './frame-reader.ts'
import type { ReadPair } from './pair-reader.ts'
import type { SeriesReader } from './series-reader.ts'
import type { RecordingSummary, TableColumns } from './types.ts'
import type { WindowCall, Windows } from './windows.ts'

/** Answers questions about one private copy. Synchronous: it lives in a worker. */
export interface Reader extends SeriesReader {
  readonly frame: ReadFrame
  readonly pairHistory: ReadPair
  summary(): RecordingSummary
  tables(): readonly TableColumns[]
  /** Half extents of the bodies that have geometry, m. */
  extents(): ReadonlyMap<number, readonly [number, number, number]>
  /** Columns of the whole recording, for analyses; made once. */
  windows(summary: RecordingSummary): Windows
  /** True once every index is built; asked anew with `refresh`. */
  isIndexed(): boolean
  /** Writes the columns of the whole recording into a file, which `windows` reads after the next `refresh`. */
  writeColumns(file: string, call: WindowCall): Promise<void>
  /** To be called when indexes or columns were made behind: from then on they are used. */
  refresh(): void
  close(): void
}
