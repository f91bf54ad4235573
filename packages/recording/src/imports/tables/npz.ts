/** Archives of NumPy arrays (`numpy.savez`, `savez_compressed`), read in batches. */
import { type FileHandle, open } from 'node:fs/promises'
import type { Call } from '@causeway/worker'
import type { OpenSource } from '../source.ts'
import {
  decodeElements,
  maxHeaderBytes,
  type NpyHeader,
  type NpyType,
  parseNpyHeader,
  toRows,
} from './npy.ts'
import { requireSameRows, selectRowArrays } from './row-arrays.ts'
import { type Batch, countBatchRows, createDamage, createLimit, type Table, type Values } from './table.ts'
import { TableSource } from './table-source.ts'
import { EntryReader, listEntries, type ZipEntry } from './zip.ts'

/** Arrays in Fortran order are read as a whole. */
const maxWholeBytes = 256 * 1024 ** 2

const maxRowBytes = 1024 ** 2

interface NpzArray {
  readonly name: string
  readonly entry: ZipEntry
  readonly header: NpyHeader
  readonly type: NpyType
}

export const openNpz: OpenSource = async (path) => {
  const handle = await open(path, 'r')
  try {
    return new TableSource(await openTable(handle, path), path)
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function openTable(handle: FileHandle, path: string): Promise<Table> {
  const entries = await listEntries(handle, path)
  const arrays: NpzArray[] = []
  const unread: string[] = []
  for (const entry of entries) {
    const name = entry.name.replace(/\.npy$/, '')
    const header = entry.name.endsWith('.npy') ? await readHeader(handle, entry, path) : undefined
    if (header?.type !== undefined) arrays.push({ name, entry, header, type: header.type })
    else unread.push(describeUnread(name, header))
  }
  const rows = selectRowArrays(
    arrays.map(({ name, type, header }) => ({
      name,
      type: type.kind === 'S' || type.kind === 'U' ? 'text' : 'number',
      shape: header.shape,
    })),
  )
  if (rows.proposed.length === 0) throw createDamage('the archive has no arrays of numbers', path)
  return {
    format: 'npz',
    ...rows,
    notes: [...unread.slice(0, 20), ...rows.notes],
    read: (names, call) => readBatches({ handle, path, arrays }, names, call),
    close: () => handle.close(),
  }
}

const describeUnread = (name: string, header: NpyHeader | undefined): string =>
  header === undefined
    ? `${name} is not an array`
    : header.description.includes('|O')
      ? `${name} holds pickled Python objects, which are never read: save numbers instead`
      : `${name} has the type ${header.description.slice(0, 100)}, which is not read`

async function readHeader(handle: FileHandle, entry: ZipEntry, path: string): Promise<NpyHeader> {
  const reader = await EntryReader.open(handle, entry, path)
  try {
    const bytes = await reader.read(Math.min(entry.size, maxHeaderBytes))
    const header = parseNpyHeader(bytes)
    if (header === undefined) throw createDamage(`${entry.name} has no valid header`, path)
    const { shape, type, length } = header
    const count = shape.reduce((a, b) => a * b, 1)
    if (type !== undefined && count * type.size !== entry.size - length)
      throw createDamage(
        `${entry.name} claims ${shape.join(' x ')} values, but has ${entry.size - length} bytes`,
        path,
      )
    return header
  } finally {
    reader.close()
  }
}

interface NpzFile {
  readonly handle: FileHandle
  readonly path: string
  readonly arrays: readonly NpzArray[]
}

async function* readBatches(
  { handle, path, arrays }: NpzFile,
  names: readonly string[],
  { signal }: Call,
): AsyncGenerator<Batch> {
  const wanted = arrays.filter(({ name }) => names.includes(name))
  const rowCount = requireSameRows(wanted.map(({ name, header }) => ({ name, shape: header.shape })))
  const widths = wanted.map(({ header }) => header.shape.slice(1).reduce((a, b) => a * b, 1))
  const rowsPerBatch = countBatchRows(widths, path)
  const readers: (readonly [name: string, reader: ArrayReader])[] = []
  try {
    for (const array of wanted) readers.push([array.name, await openArray(handle, array, path)])
    for (let done = 0; done < rowCount; ) {
      signal.throwIfAborted()
      const count = Math.min(rowsPerBatch, rowCount - done)
      const columns = new Map<string, Values>()
      for (const [name, reader] of readers) columns.set(name, await reader.read(count))
      done += count
      yield { count, columns, done: done / rowCount }
    }
  } finally {
    for (const [, reader] of readers) reader.close()
  }
}

interface ArrayReader {
  read(rows: number): Promise<Values>
  close(): void
}

async function openArray(handle: FileHandle, array: NpzArray, path: string): Promise<ArrayReader> {
  const { name, entry, header, type } = array
  const [rows = 0, ...sizes] = header.shape
  const width = sizes.reduce((a, b) => a * b, 1)
  if (width * type.size > maxRowBytes)
    throw createLimit(`a row of ${name} has ${width * type.size} bytes`, maxRowBytes, path)
  const isWhole = header.isFortran && sizes.length > 0
  const bytes = rows * width * type.size
  if (isWhole && bytes > maxWholeBytes)
    throw createLimit(`${name} is in Fortran order and has ${bytes} bytes`, maxWholeBytes, path)
  const reader = await EntryReader.open(handle, entry, path)
  await reader.read(header.length)
  const close = () => reader.close()
  if (!isWhole)
    return {
      read: async (count) => decodeElements(await reader.read(count * width * type.size), type),
      close,
    }
  const values = toRows(decodeElements(await reader.read(bytes), type), header.shape)
  let at = 0
  return {
    read: async (count) => {
      at += count * width
      return values.slice(at - count * width, at)
    },
    close,
  }
}
