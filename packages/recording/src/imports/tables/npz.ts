/** Reads archives of NumPy arrays (`numpy.savez`, `savez_compressed`) in batches. */
import { type FileHandle, open } from 'node:fs/promises'
import type { OpenSource } from '../source.ts'
import {
  decodeElements,
  maxHeaderBytes,
  type NpyHeader,
  type NpyType,
  parseNpyHeader,
  toRows,
} from './npy.ts'
import { getWidth, type RowReader, readRows, selectRowArrays } from './row-arrays.ts'
import { createDamageError, createLimitError, type Table } from './table.ts'
import { TableSource } from './table-source.ts'
import { EntryReader, listEntries, type ZipEntry } from './zip.ts'

/** Maximum size of an array in Fortran order, which is read as a whole. */
const maxWholeBytes = 256 * 1024 ** 2

const maxRowBytes = 1024 ** 2

interface NpzArray {
  readonly name: string
  readonly shape: readonly number[]
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
    if (header?.type !== undefined)
      arrays.push({ name, shape: header.shape, entry, header, type: header.type })
    else unread.push(describeUnread(name, header))
  }
  const rows = selectRowArrays(
    arrays.map(({ name, type, shape }) => ({
      name,
      type: type.kind === 'S' || type.kind === 'U' ? 'text' : 'number',
      shape,
    })),
  )
  if (rows.proposedColumns.length === 0) throw createDamageError('the archive has no arrays of numbers', path)
  return {
    format: 'npz',
    ...rows,
    notes: [...unread.slice(0, 20), ...rows.notes],
    read: (names, { signal }) =>
      readRows(
        arrays.filter(({ name }) => names.includes(name)),
        (array) => openArray(handle, array, path),
        { path, signal },
      ),
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
    if (header === undefined) throw createDamageError(`${entry.name} has no valid header`, path)
    const { shape, type, length } = header
    const count = shape.reduce((a, b) => a * b, 1)
    if (type !== undefined && count * type.size !== entry.size - length)
      throw createDamageError(
        `${entry.name} claims ${shape.join(' x ')} values, but has ${entry.size - length} bytes`,
        path,
      )
    return header
  } finally {
    reader.close()
  }
}

async function openArray(handle: FileHandle, array: NpzArray, path: string): Promise<RowReader> {
  const { name, entry, header, type, shape } = array
  const width = getWidth(shape)
  if (width * type.size > maxRowBytes)
    throw createLimitError(`a row of ${name} has ${width * type.size} bytes`, maxRowBytes, path)
  const isWhole = header.isFortran && shape.length > 1
  const bytes = (shape[0] ?? 0) * width * type.size
  if (isWhole && bytes > maxWholeBytes)
    throw createLimitError(`${name} is in Fortran order and has ${bytes} bytes`, maxWholeBytes, path)
  const reader = await EntryReader.open(handle, entry, path)
  await reader.read(header.length)
  const close = () => reader.close()
  if (!isWhole)
    return {
      read: async (_start, count) => decodeElements(await reader.read(count * width * type.size), type),
      close,
    }
  const values = toRows(decodeElements(await reader.read(bytes), type), shape)
  return { read: (start, count) => values.slice(start * width, (start + count) * width), close }
}
