/** Reads entries of ZIP archives (ISO/IEC 21320-1) from start to end, with limits. */
import { createReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { maxColumns } from '../source.ts'
import { checkExpansion, createDamageError, createLimitError } from './table.ts'

export interface ZipEntry {
  readonly name: string
  readonly size: number
  readonly compressedSize: number
  readonly isDeflated: boolean
  readonly crc: number
  /** Offset of the local header. */
  readonly offset: number
}

const maxRatio = 200

const maxDirectoryBytes = 16 * 1024 ** 2

export async function listEntries(handle: FileHandle, path: string): Promise<readonly ZipEntry[]> {
  const { size } = await handle.stat()
  const read = async (start: number, length: number): Promise<Buffer> => {
    const bytes = Buffer.alloc(length)
    const isInside = start >= 0 && start + length <= size
    if (!isInside || (await handle.read(bytes, 0, length, start)).bytesRead < length)
      throw createDamageError('the archive refers to bytes behind its end', path)
    return bytes
  }
  const { count, start, length } = await findDirectory(read, size, path)
  if (count > maxColumns) throw createLimitError(`the archive has ${count} entries`, maxColumns, path)
  if (length > maxDirectoryBytes)
    throw createLimitError(`the directory of the archive has ${length} bytes`, maxDirectoryBytes, path)
  const entries = parseDirectory(await read(start, length), count, path)
  for (const entry of entries) {
    checkExpansion(
      entry.name,
      { claimedBytes: entry.size, storedBytes: entry.compressedSize, ratio: maxRatio },
      path,
    )
    if (entry.offset + entry.compressedSize > size) throw createDamageError(`${entry.name} is cut`, path)
  }
  return entries
}

type Read = (start: number, length: number) => Promise<Buffer>

async function findDirectory(read: Read, size: number, path: string) {
  // The end record consists of 22 bytes and a comment.
  const tailSize = Math.min(size, 22 + 65_535)
  const tail = await read(size - tailSize, tailSize)
  const at = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (at < 0 || at + 22 > tail.length) throw createDamageError('the archive has no end: it is cut', path)
  const record = tail.subarray(at)
  const shortRecord = {
    count: record.readUInt16LE(10),
    length: record.readUInt32LE(12),
    start: record.readUInt32LE(16),
  }
  const isZip64 =
    shortRecord.count === 0xffff || shortRecord.length === 0xffffffff || shortRecord.start === 0xffffffff
  if (!isZip64 || at < 20) return shortRecord
  const locator = tail.subarray(at - 20, at)
  if (locator.readUInt32LE(0) !== 0x07064b50) return shortRecord
  const longRecord = await read(toSafeInteger(locator.readBigUInt64LE(8), path), 56)
  if (longRecord.readUInt32LE(0) !== 0x06064b50)
    throw createDamageError('the end of the archive is invalid', path)
  return {
    count: toSafeInteger(longRecord.readBigUInt64LE(32), path),
    length: toSafeInteger(longRecord.readBigUInt64LE(40), path),
    start: toSafeInteger(longRecord.readBigUInt64LE(48), path),
  }
}

function toSafeInteger(value: bigint, path: string): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER))
    throw createDamageError('the archive claims impossible sizes', path)
  return Number(value)
}

function parseDirectory(directory: Buffer, count: number, path: string): readonly ZipEntry[] {
  const entries: ZipEntry[] = []
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== 0x02014b50)
      throw createDamageError('the directory of the archive is invalid', path)
    const header = directory.subarray(at, at + 46)
    const nameEnd = at + 46 + header.readUInt16LE(28)
    const extraEnd = nameEnd + header.readUInt16LE(30)
    const end = extraEnd + header.readUInt16LE(32)
    if (end > directory.length) throw createDamageError('the directory of the archive is invalid', path)
    const name = directory.toString('utf8', at + 46, nameEnd)
    entries.push(parseEntry(header, name, directory.subarray(nameEnd, extraEnd), path))
    at = end
  }
  if (new Set(entries.map(({ name }) => name)).size !== entries.length)
    throw createDamageError('the archive has two entries of one name', path)
  return entries
}

function parseEntry(header: Buffer, name: string, extra: Buffer, path: string): ZipEntry {
  const method = header.readUInt16LE(10)
  if ((header.readUInt16LE(8) & 1) === 1) throw createDamageError(`${name} is encrypted`, path)
  if (method !== 0 && method !== 8)
    throw createDamageError(
      `${name} is compressed by method ${method}; only stored and deflated arrays are read`,
      path,
    )
  const longSizes = readLongSizes(extra)
  const read = (at: number): number => {
    const value = header.readUInt32LE(at)
    if (value !== 0xffffffff) return value
    const longSize = longSizes.shift()
    if (longSize === undefined) throw createDamageError(`${name} has no size`, path)
    return toSafeInteger(longSize, path)
  }
  // Order in the extra field: size, compressed size, offset.
  const size = read(24)
  const compressedSize = read(20)
  const offset = read(42)
  return { name, size, compressedSize, offset, isDeflated: method === 8, crc: header.readUInt32LE(16) }
}

function readLongSizes(extra: Buffer): bigint[] {
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = Math.min(extra.length, at + 4 + extra.readUInt16LE(at + 2))
    if (extra.readUInt16LE(at) === 1)
      return Array.from({ length: Math.floor((end - at - 4) / 8) }, (_, i) =>
        extra.readBigUInt64LE(at + 4 + 8 * i),
      )
    at = end
  }
  return []
}

export class EntryReader {
  readonly #entry: ZipEntry
  readonly #path: string
  readonly #parts: AsyncIterator<Buffer>
  readonly #end: () => void
  #remainingBytes: Buffer = Buffer.alloc(0)
  #crc = 0
  #read = 0

  private constructor(
    entry: ZipEntry,
    path: string,
    source: { parts: AsyncIterator<Buffer>; end: () => void },
  ) {
    this.#entry = entry
    this.#path = path
    this.#parts = source.parts
    this.#end = source.end
  }

  static async open(handle: FileHandle, entry: ZipEntry, path: string): Promise<EntryReader> {
    const header = Buffer.alloc(30)
    await handle.read(header, 0, 30, entry.offset)
    if (header.readUInt32LE(0) !== 0x04034b50) throw createDamageError(`${entry.name} has no header`, path)
    const start = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
    const file = createReadStream(path, { start, end: Math.max(start, start + entry.compressedSize - 1) })
    if (!entry.isDeflated)
      return new EntryReader(entry, path, { parts: file[Symbol.asyncIterator](), end: () => file.destroy() })
    // Errors of both streams are reported by the second one.
    const inflatedStream = pipeline(file, createInflateRaw(), () => {})
    return new EntryReader(entry, path, {
      parts: inflatedStream[Symbol.asyncIterator](),
      end: () => file.destroy(),
    })
  }

  /** Throws `RECORDING_DAMAGED` if the size or checksum of the entry is wrong. */
  async read(length: number): Promise<Buffer> {
    const { name, size, crc } = this.#entry
    const parts = [this.#remainingBytes]
    let available = this.#remainingBytes.length
    while (available < length) {
      const { done, value } = await this.#parts.next().catch((error) => {
        throw createDamageError(`${name} cannot be decompressed (${error.message})`, this.#path, error)
      })
      if (done) throw createDamageError(`${name} ends before its ${size} bytes`, this.#path)
      this.#crc = crc32(value, this.#crc)
      this.#read += value.length
      parts.push(value)
      available += value.length
    }
    if (this.#read > size) throw createDamageError(`${name} has more than its ${size} bytes`, this.#path)
    if (this.#read === size && this.#crc !== crc)
      throw createDamageError(`the checksum of ${name} is wrong`, this.#path)
    const bytes = parts.length === 1 ? this.#remainingBytes : Buffer.concat(parts, available)
    this.#remainingBytes = bytes.subarray(length)
    return bytes.subarray(0, length)
  }

  close(): void {
    this.#end()
  }
}
