import { zstdDecompressSync } from 'node:zlib'
import type { McapTypes } from '@mcap/core'

/** Maximum size of a record and of a decompressed chunk. Recorders write chunks of 256 KiB. */
export const maxChunkBytes = 256 * 1024 ** 2

/** These throw `RangeError` above the limit. */
export const decompressHandlers: McapTypes.DecompressHandlers = {
  zstd(bytes, size) {
    if (size > BigInt(maxChunkBytes))
      throw new RangeError(`a chunk has ${size} bytes, more than ${maxChunkBytes}`)
    return zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, Number(size)) })
  },
}
