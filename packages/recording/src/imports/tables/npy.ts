/** Parses NumPy's array format (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). */
import type { Values } from './table.ts'

export interface NpyHeader {
  /** Length of the header in bytes. */
  readonly length: number
  readonly isFortran: boolean
  readonly shape: readonly number[]
  /** `undefined` for unsupported types. */
  readonly type: NpyType | undefined
  /** The type as written in the file. */
  readonly description: string
}

export interface NpyType {
  readonly kind: 'f' | 'i' | 'u' | 'b' | 'S' | 'U'
  /** Bytes per element. */
  readonly size: number
  readonly isLittle: boolean
}

export const maxHeaderBytes = 65_536

const magic = Buffer.from('\x93NUMPY', 'latin1')

/** Returns `undefined` if the header is incomplete or malformed. */
export function parseNpyHeader(bytes: Buffer): NpyHeader | undefined {
  if (bytes.length < 12 || !bytes.subarray(0, 6).equals(magic)) return undefined
  const isShort = bytes[6] === 1
  const start = isShort ? 10 : 12
  const length = start + (isShort ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8))
  if (length > bytes.length || ![1, 2, 3].includes(bytes[6] ?? 0)) return undefined
  const text = bytes.toString('utf8', start, length)
  const [, description] = /'descr':\s*('[^']*'|\[.*\])\s*,/s.exec(text) ?? []
  const [, order] = /'fortran_order':\s*(True|False)/.exec(text) ?? []
  const [, sizes] = /'shape':\s*\(([\d\s,L]*)\)/.exec(text) ?? []
  if (description === undefined || order === undefined || sizes === undefined) return undefined
  const shape = [...sizes.matchAll(/\d+/g)].map(Number)
  return { length, isFortran: order === 'True', shape, type: parseType(description), description }
}

const numberSizes: Readonly<Record<string, readonly number[]>> = {
  f: [2, 4, 8],
  i: [1, 2, 4, 8],
  u: [1, 2, 4, 8],
  b: [1],
}

function parseType(description: string): NpyType | undefined {
  const [, order, code = '', digits] = /^'([<>|=])([a-zA-Z])(\d+)(?:\[\w+\])?'$/.exec(description) ?? []
  const isLittle = order !== '>'
  const size = Number(digits)
  // Dates are stored as integers.
  const kind = code === 'M' || code === 'm' ? 'i' : code
  if (kind === 'S' && size > 0) return { kind, size, isLittle }
  if (kind === 'U' && size > 0) return { kind, size: 4 * size, isLittle }
  if (!numberSizes[kind]?.includes(size)) return undefined
  return { kind: kind as 'f' | 'i' | 'u' | 'b', size, isLittle }
}

/** Decodes elements. Integers of 64 bits remain exact. */
export function decodeElements(bytes: Buffer, { kind, size, isLittle }: NpyType): Values {
  const count = bytes.length / size
  if (kind === 'S')
    return Array.from({ length: count }, (_, i) =>
      trimNulls(bytes.toString('latin1', i * size, (i + 1) * size)),
    )
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (kind === 'U') return Array.from({ length: count }, (_, i) => readText(view, i * size, size, isLittle))
  if (kind === 'i' && size === 8)
    return BigInt64Array.from({ length: count }, (_, i) => view.getBigInt64(i * 8, isLittle))
  if (kind === 'u' && size === 8)
    return BigUint64Array.from({ length: count }, (_, i) => view.getBigUint64(i * 8, isLittle))
  const read = createReader(view, kind, size, isLittle)
  const numbers = new Float64Array(count)
  for (let i = 0; i < count; i++) numbers[i] = read(i * size)
  return numbers
}

const trimNulls = (text: string): string => text.replace(/\0+$/, '')

function readText(view: DataView, start: number, size: number, isLittle: boolean): string {
  let text = ''
  for (let at = start; at < start + size; at += 4) {
    const code = view.getUint32(at, isLittle)
    text += code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
  }
  return trimNulls(text)
}

function createReader(
  view: DataView,
  kind: NpyType['kind'],
  size: number,
  isLittle: boolean,
): (at: number) => number {
  switch (`${kind}${size}`) {
    case 'f8':
      return (at) => view.getFloat64(at, isLittle)
    case 'f4':
      return (at) => view.getFloat32(at, isLittle)
    case 'f2':
      return (at) => decodeHalf(view.getUint16(at, isLittle))
    case 'i4':
      return (at) => view.getInt32(at, isLittle)
    case 'i2':
      return (at) => view.getInt16(at, isLittle)
    case 'i1':
      return (at) => view.getInt8(at)
    case 'u4':
      return (at) => view.getUint32(at, isLittle)
    case 'u2':
      return (at) => view.getUint16(at, isLittle)
    default:
      return (at) => view.getUint8(at)
  }
}

/** Converts IEEE 754 binary16. */
function decodeHalf(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023]
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (1024 + fraction) * 2 ** (exponent - 25)
}

/** Converts a whole array from Fortran order, in which the first index changes fastest, to rows. */
export function toRows(values: Values, shape: readonly number[]): Values {
  const [rows = 0, ...sizes] = shape
  const width = sizes.reduce((a, b) => a * b, 1)
  const sources = Array.from({ length: width }, (_, column) => {
    let [remaining, index] = [column, 0]
    let stride = rows * width
    for (const size of sizes.toReversed()) {
      stride /= size
      index += (remaining % size) * stride
      remaining = Math.floor(remaining / size)
    }
    return index
  })
  const order = (i: number): number => (sources[i % width] ?? 0) + Math.floor(i / width)
  if (values instanceof BigInt64Array) return values.map((_, i) => values[order(i)] ?? 0n)
  if (values instanceof BigUint64Array) return values.map((_, i) => values[order(i)] ?? 0n)
  if (values instanceof Float64Array) return values.map((_, i) => values[order(i)] ?? Number.NaN)
  return values
}
