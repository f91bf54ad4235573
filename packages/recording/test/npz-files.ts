/** Writes NumPy arrays and archives, valid and invalid ones, as the formats are documented. */
import { crc32, deflateRawSync } from 'node:zlib'

interface NpyOptions {
  readonly descr?: string
  readonly shape: string
  readonly order?: 'True' | 'False'
}

/** Returns an array file of version 1.0. Its header may contradict the data. */
export function writeNpy(data: Uint8Array, { descr = "'<f8'", shape, order = 'False' }: NpyOptions): Buffer {
  const text = `{'descr': ${descr}, 'fortran_order': ${order}, 'shape': ${shape}, }`
  const header = Buffer.from(`${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`)
  const start = Buffer.from('\x93NUMPY\x01\x00\x00\x00', 'latin1')
  start.writeUInt16LE(header.length, 8)
  return Buffer.concat([start, header, data])
}

export const toBytes = (numbers: readonly number[]): Uint8Array =>
  new Uint8Array(Float64Array.from(numbers).buffer)

interface ZipMember {
  readonly name: string
  readonly data: Buffer
  readonly isDeflated?: boolean
  /** Size that the archive declares. */
  readonly size?: number
  readonly crc?: number
}

export function writeZip(members: readonly ZipMember[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, data, isDeflated = false, size = data.length, crc = crc32(data) } of members) {
    const body = isDeflated ? deflateRawSync(data) : data
    const header = Buffer.alloc(26)
    header.writeUInt16LE(20, 0)
    header.writeUInt16LE(isDeflated ? 8 : 0, 4)
    header.writeUInt32LE(crc, 10)
    header.writeUInt32LE(body.length, 14)
    header.writeUInt32LE(size, 18)
    header.writeUInt16LE(name.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), header, Buffer.from(name), body])
    parts.push(local)
    directory.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), header, place, Buffer.from(name)]),
    )
    offset += local.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(members.length, 8)
  end.writeUInt16LE(members.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, ...directory, end])
}
