import { LineFrames } from './lines/line-frames.ts'
import type { Line } from './lines/line-reader.ts'
import type { RunContext } from './lines/run-line.ts'

/** Reads a stream of runs and frames. The first error ends the stream. */
export interface FrameSource {
  /** Name of a unit of the stream, for error messages. */
  readonly unit: 'line' | 'message'
  /** Number of units so far, including an invalid one. */
  readonly count: number
  /** Returns what these bytes complete. Throws `INVALID_FRAME`. */
  push(bytes: Uint8Array): Iterable<Line>
  /** Returns what remains at the end of a whole stream. Throws `INVALID_FRAME`. */
  end(): Iterable<Line>
  /** Whether the end of the stream shows that its writer was interrupted. */
  readonly isCut: boolean
}

/** First byte of an MCAP stream. UTF-8 text cannot begin with it. */
const mcapFirstByte = 0x89

/** Creates the reader of a stream that begins with these bytes. The reader of MCAP is loaded when it is needed. */
export async function createSource(first: Uint8Array, context: RunContext): Promise<FrameSource> {
  if (first[0] !== mcapFirstByte) return new LineFrames(context)
  const { McapFrames } = await import('./mcap/mcap-frames.ts')
  return new McapFrames(context)
}
