/** One picture of an animation. */
export interface AnimationFrame {
  /** A lossy WebP file without transparency. */
  readonly webp: Buffer
  readonly ms: number
}

/** Joins pictures of one size to an animated WebP that repeats forever (RFC 9649). */
export function joinAnimation(
  frames: readonly AnimationFrame[],
  { width, height }: { readonly width: number; readonly height: number },
): Buffer {
  const canvas = Buffer.alloc(10)
  const hasAnimation = 2
  canvas.writeUInt8(hasAnimation, 0)
  canvas.writeUIntLE(width - 1, 4, 3)
  canvas.writeUIntLE(height - 1, 7, 3)
  const parts = frames.map(({ webp, ms }) => {
    const header = Buffer.alloc(16)
    header.writeUIntLE(width - 1, 6, 3)
    header.writeUIntLE(height - 1, 9, 3)
    header.writeUIntLE(ms, 12, 3)
    // Replaces the whole picture, without blending.
    header.writeUInt8(2, 15)
    return toChunk('ANMF', Buffer.concat([header, readImageChunk(webp)]))
  })
  const body = Buffer.concat([toChunk('VP8X', canvas), toChunk('ANIM', Buffer.alloc(6)), ...parts])
  return toChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), body]))
}

function toChunk(name: string, data: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from(name), size, data, Buffer.alloc(data.length % 2)])
}

/** Returns the chunk with the bit stream. Throws if the file has none. */
function readImageChunk(webp: Buffer): Buffer {
  for (let at = 12; at + 8 <= webp.length; ) {
    const length = 8 + webp.readUInt32LE(at + 4)
    if (/^VP8[ L]$/.test(webp.toString('latin1', at, at + 4)))
      return webp.subarray(at, at + length + (length % 2))
    at += length + (length % 2)
  }
  throw new Error('Chromium created a file that is not WebP')
}
