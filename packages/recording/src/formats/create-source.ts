import type { FrameSource } from './frame-source.ts'
import { LineFrames } from './lines/line-frames.ts'
import type { RunContext } from './lines/run-line.ts'

/** First byte of an MCAP stream. UTF-8 text cannot begin with it. */
const mcapFirstByte = 0x89

export async function createSource(first: Uint8Array, context: RunContext): Promise<FrameSource> {
  if (first[0] !== mcapFirstByte) return new LineFrames(context)
  const { McapFrames } = await import('./mcap/mcap-frames.ts')
  return new McapFrames(context)
}
