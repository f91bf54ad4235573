import type { Line } from './lines/line-reader.ts'

/** A stream of runs and frames. The first error ends it. */
export interface FrameSource {
  /** Unit of the stream, for error messages. */
  readonly unit: 'line' | 'message'
  /** Units so far, including an invalid one. */
  readonly count: number
  /** Returns what these bytes complete. Throws `INVALID_FRAME`. */
  push(bytes: Uint8Array): Iterable<Line>
  end(): Iterable<Line>
  /** Whether the writer was interrupted. */
  readonly isCut: boolean
}
