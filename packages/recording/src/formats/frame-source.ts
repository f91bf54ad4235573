import type { Line } from './lines/line-reader.ts'

/** Reads a stream of runs and frames. The first error ends the stream. */
export interface FrameSource {
  /** Name of a unit of the stream, for error messages. */
  readonly unit: 'line' | 'message'
  /** Number of units so far, including an invalid one. */
  readonly count: number
  /** Returns what these bytes complete. Throws `INVALID_FRAME`. */
  push(bytes: Uint8Array): Iterable<Line>
  /** Throws `INVALID_FRAME`. */
  end(): Iterable<Line>
  /** Whether the writer was interrupted. */
  readonly isCut: boolean
}
