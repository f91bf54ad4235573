import { inflateSync } from 'node:zlib'

/** A decoded picture: RGBA, row by row. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly rgba: Uint8Array
}

/** Decodes a PNG of 8-bit RGBA without interlacing (https://www.w3.org/TR/png-3/). Throws for other formats. */
export function decodePng(png: Uint8Array): Pixels {
  const bytes = Buffer.from(png)
  if (bytes.subarray(0, 8).toString('hex') !== '89504e470d0a1a0a') throw new Error('not a PNG')
  const width = bytes.readUInt32BE(16)
  const height = bytes.readUInt32BE(20)
  if (bytes.subarray(24, 29).toString('hex') !== '0806000000') throw new Error('not plain 8-bit RGBA')
  const packed: Buffer[] = []
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT')
      packed.push(bytes.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  return { width, height, rgba: unfilter(inflateSync(Buffer.concat(packed)), width * 4, height) }
}

function unfilter(filtered: Uint8Array, stride: number, height: number): Uint8Array {
  const plain = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = filtered[y * (stride + 1)]
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x >= 4 ? (plain[at - 4] ?? 0) : 0
      const up = y > 0 ? (plain[at - stride] ?? 0) : 0
      const corner = x >= 4 && y > 0 ? (plain[at - stride - 4] ?? 0) : 0
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0
      plain[at] = (filtered[y * (stride + 1) + 1 + x] ?? 0) + guess
    }
  }
  return plain
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner
  const [dl, du, dc] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)]
  return dl <= du && dl <= dc ? left : du <= dc ? up : corner
}

/** Counts pixels darker than a light grey in an area (fractions of the picture: left, top, right, bottom). */
export function ink(
  { width, height, rgba }: Pixels,
  [left, top, right, bottom]: readonly [number, number, number, number] = [0, 0, 1, 1],
): number {
  let dark = 0
  for (let y = Math.floor(top * height); y < Math.floor(bottom * height); y++) {
    for (let x = Math.floor(left * width); x < Math.floor(right * width); x++) {
      const at = (y * width + x) * 4
      if ((rgba[at] ?? 0) + (rgba[at + 1] ?? 0) + (rgba[at + 2] ?? 0) < 600) dark++
    }
  }
  return dark
}
