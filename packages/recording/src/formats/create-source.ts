import { RecordingError } from '../errors.ts'
import type { FrameSource } from './frame-source.ts'
import { LineFrames } from './lines/line-frames.ts'
import type { RunContext } from './lines/run-line.ts'

/** First byte of an MCAP stream. UTF-8 text cannot begin with it. */
const mcapFirstByte = 0x89

const compressions = { gzip: '1f8b', zstd: '28b52ffd', xz: 'fd377a585a00', bzip2: '425a68', zip: '504b0304' }

/** Returns how to decompress the file; `undefined` if it is not compressed. */
export function findCompression(head: Uint8Array): { readonly remedy: string } | undefined {
  const hex = Buffer.from(head.subarray(0, 6)).toString('hex')
  const compression = Object.entries(compressions).find(([, start]) => hex.startsWith(start))
  return (
    compression && {
      remedy: `decompress the file, which was made by ${compression[0]}, and give the file in it`,
    }
  )
}

/** Selects the format by the first bytes. Throws `NOT_A_RECORDING` for a compressed file. */
export async function createSource(first: Uint8Array, context: RunContext): Promise<FrameSource> {
  const compression = findCompression(first)
  if (compression !== undefined)
    throw new RecordingError('NOT_A_RECORDING', 'the file is compressed', compression)
  if (first[0] !== mcapFirstByte) return new LineFrames(context)
  const { McapFrames } = await import('./mcap/mcap-frames.ts')
  return new McapFrames(context)
}
