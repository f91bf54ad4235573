import type { Line } from './lines/line-reader.ts'

/** A stream of runs and frames. It ends at the first error. */
export interface FrameSource {
  /** Unit of the stream, for error messages. */
  readonly unit: 'line' | 'message'
  /** Number of units so far, including an invalid one. */
  readonly count: number
  /** Returns the lines that these bytes complete. Throws `INVALID_FRAME`. */
  push(bytes: Uint8Array): Iterable<Line>
  end(): Iterable<Line>
  /** Whether the writer was interrupted. */
  readonly isTruncated: boolean
}
