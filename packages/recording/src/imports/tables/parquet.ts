/**
 * Reads Parquet files (https://parquet.apache.org/docs/file-format): numbers, strings, and number lists of equal
 * length.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { isCausewayError } from '@causeway/protocol'
import type { Call } from '@causeway/worker'
import {
  type AsyncBuffer,
  type DecodedArray,
  type FileMetaData,
  type ParquetReadOptions,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet'
import type { NamedColumn } from '../../domain/imports/column-names.ts'
import { maxColumns, type OpenSource } from '../source.ts'
import { checkPages, compressors, maxValues, selectFirstPages } from './parquet-pages.ts'
import {
  type Batch,
  batchRows,
  checkExpansion,
  createDamageError,
  createLimitError,
  isIntegers,
  type Table,
  toIntegers,
  type Values,
} from './table.ts'
import { TableSource } from './table-source.ts'

const maxMetadataBytes = 64 * 1024 ** 2

/** Maximum size of a column in a row group. */
const maxSliceBytes = 512 * 1024 ** 2

const maxGroupValues = 4 * maxValues

/** Maximum ratio of the size of the read columns to the file size. Dictionaries make constant columns small. */
const maxRatio = 1000

const maxWidth = 10_000

export const openParquet: OpenSource = async (path) => {
  const handle = await open(path, 'r')
  try {
    return new TableSource(await openTable(handle, path), path)
  } catch (error) {
    await handle.close()
    throw error
  }
}

interface ParquetFile {
  readonly path: string
  readonly file: AsyncBuffer
  readonly metadata: FileMetaData
  readonly columns: readonly NamedColumn[]
}

async function openTable(handle: FileHandle, path: string): Promise<Table> {
  const { size } = await handle.stat()
  const file = createBuffer(handle, size, path)
  const metadata = await convertErrors(path, async () => {
    await checkFooter(file, path)
    return parquetMetadataAsync(file, { geoparquet: false })
  })
  const columns = await convertErrors(path, () => listColumns(metadata, file, path))
  return {
    format: 'Parquet',
    columns,
    rowCount: await convertErrors(path, async () => countRows(metadata, path)),
    notes: listUnreadColumns(metadata, columns),
    read: (names, call, maxRows) => readBatches({ path, file, metadata, columns }, names, call, maxRows),
    close: () => handle.close(),
  }
}

async function convertErrors<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (isCausewayError(error) || (error as NodeJS.ErrnoException).syscall !== undefined) throw error
    throw createDamageError(`the Parquet file cannot be read (${(error as Error).message})`, path, error)
  }
}

function createBuffer(handle: FileHandle, size: number, path: string): AsyncBuffer {
  return {
    byteLength: size,
    async slice(start, end = size) {
      const length = end - start
      if (!(start >= 0 && length >= 0 && end <= size))
        throw createDamageError(
          `the metadata refers to bytes ${start} to ${end} of a file of ${size} bytes`,
          path,
        )
      if (length > maxSliceBytes) throw createLimitError(`a column has ${length} bytes`, maxSliceBytes, path)
      const bytes = new Uint8Array(length)
      const { bytesRead } = await handle.read(bytes, 0, length, start)
      if (bytesRead < length) throw createDamageError('the file became shorter during the import', path)
      return bytes.buffer
    },
  }
}

async function checkFooter(file: AsyncBuffer, path: string): Promise<void> {
  if (file.byteLength < 12) throw createDamageError(`the file has only ${file.byteLength} bytes`, path)
  const footer = Buffer.from(await file.slice(file.byteLength - 8, file.byteLength))
  const magic = footer.toString('latin1', 4)
  if (magic === 'PARE') throw createDamageError('the Parquet file is encrypted', path)
  if (magic !== 'PAR1')
    throw createDamageError('the Parquet file has no end: it is cut, or still written', path)
  const length = footer.readUInt32LE(0)
  if (length > maxMetadataBytes)
    throw createLimitError(`the metadata has ${length} bytes`, maxMetadataBytes, path)
}

function countRows({ num_rows, row_groups }: FileMetaData, path: string): number {
  const sum = row_groups.reduce((rows, group) => rows + group.num_rows, 0n)
  const isValid = row_groups.every((group) => group.num_rows >= 0n) && sum === num_rows
  if (!isValid || sum > BigInt(Number.MAX_SAFE_INTEGER))
    throw createDamageError(`the metadata claims ${num_rows} rows, and ${sum} in its groups`, path)
  return Number(sum)
}

/** Returns the schema of a list's elements or of the column itself; `undefined` for other nested columns. */
function findLeaf(tree: SchemaTree): SchemaTree | undefined {
  const [child, ...otherChildren] = tree.children
  if (child === undefined) return tree
  return otherChildren.length === 0 && tree.element.logical_type?.type !== 'MAP' ? findLeaf(child) : undefined
}

const isText = ({ element }: SchemaTree): boolean =>
  element.converted_type !== 'DECIMAL' &&
  element.logical_type?.type !== 'FLOAT16' &&
  (element.type === 'BYTE_ARRAY' || element.type === 'FIXED_LEN_BYTE_ARRAY')

async function listColumns(
  metadata: FileMetaData,
  file: AsyncBuffer,
  path: string,
): Promise<readonly NamedColumn[]> {
  const { children } = parquetSchema(metadata)
  if (children.length > maxColumns)
    throw createLimitError(`the file has ${children.length} columns`, maxColumns, path)
  const columns: NamedColumn[] = []
  for (const tree of children) {
    const leaf = findLeaf(tree)
    if (leaf === undefined || (leaf !== tree && isText(leaf))) continue
    const { name } = tree.element
    const width = leaf === tree ? 1 : await readWidth({ file, metadata, path }, name)
    if (width > 0) columns.push({ name, type: isText(leaf) ? 'text' : 'number', width })
  }
  if (new Set(columns.map(({ name }) => name)).size !== columns.length)
    throw createDamageError('two columns have one name', path)
  return columns
}

const listUnreadColumns = (metadata: FileMetaData, columns: readonly NamedColumn[]): readonly string[] => {
  const columnNames = new Set(columns.map(({ name }) => name))
  const unreadColumns = parquetSchema(metadata).children.flatMap(({ element }) =>
    columnNames.has(element.name) ? [] : element.name,
  )
  return unreadColumns.length === 0
    ? []
    : [`nested columns are not read: ${unreadColumns.slice(0, 20).join(', ')}`]
}

type OpenFile = Omit<ParquetFile, 'columns'>

async function readWidth(file: OpenFile, column: string): Promise<number> {
  const index = file.metadata.row_groups.findIndex(({ num_rows }) => num_rows > 0n)
  if (index < 0) return 0
  // With this many values, the first list ends or exceeds the limit.
  const selectedFile = await selectPages(file, index, { name: column, minValues: maxWidth + 1 })
  const [first] = await readColumn(selectedFile, column, 0, 1)
  const width = countNumbers(first)
  if (width > maxWidth) throw createLimitError(`${column} has lists of ${width} numbers`, maxWidth, file.path)
  return width
}

const countNumbers = (value: unknown): number =>
  isList(value) ? value.reduce<number>((sum, item) => sum + countNumbers(item), 0) : 1

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

/** Returns times as integers, because dates would not be exact. */
const parsers: NonNullable<ParquetReadOptions['parsers']> = {
  timestampFromMilliseconds: (value: bigint) => value,
  timestampFromMicroseconds: (value: bigint) => value,
  timestampFromNanoseconds: (value: bigint) => value,
  dateFromDays: (value: number) => value,
}

async function selectPages<File extends OpenFile>(
  file: File,
  index: number,
  pages: { readonly name: string; readonly minValues: number },
): Promise<File> {
  const row_groups = [...file.metadata.row_groups]
  const group = row_groups[index]
  if (group !== undefined) row_groups[index] = await selectFirstPages(file, group, pages)
  return { ...file, metadata: { ...file.metadata, row_groups } }
}

async function readColumn(
  { file, metadata, path }: OpenFile,
  column: string,
  rowStart: number,
  rowEnd: number,
): Promise<DecodedArray> {
  const options = { file, metadata, columns: [column], rowStart, rowEnd, compressors, parsers }
  const scan = await parquetScan({ ...options, useOffsetIndex: false, geoparquet: false })
  const [range] = scan.ranges
  if (range === undefined) throw createDamageError(`${column} has no rows from ${rowStart}`, path)
  const { rowStart: start, rowEnd: end } = range
  const values = await scan.readColumn({ column, rowStart: start, rowEnd: Math.min(rowEnd, end) })
  if (values.length < rowEnd - rowStart)
    throw createDamageError(`${column} has ${values.length} of ${rowEnd - rowStart} rows`, path)
  return values
}

async function* readBatches(
  parquet: ParquetFile,
  names: readonly string[],
  { signal }: Call,
  maxRows = Number.POSITIVE_INFINITY,
): AsyncGenerator<Batch> {
  const { path, columns, metadata } = parquet
  const selectedColumns = names.flatMap((name) => columns.find((column) => column.name === name) ?? [])
  const total = Math.min(maxRows, countRows(metadata, path))
  const width = selectedColumns.reduce((sum, column) => sum + column.width, 0)
  checkExpansion(
    'the file',
    { claimedBytes: 8 * total * width, storedBytes: parquet.file.byteLength, ratio: maxRatio },
    path,
  )
  let start = 0
  for (const [index, group] of metadata.row_groups.entries()) {
    const isPartial = Number(group.num_rows) > total - start
    const rows = isPartial ? total - start : Number(group.num_rows)
    if (rows * width > maxGroupValues)
      throw createLimitError(`a row group has ${rows} rows of ${width} values`, maxGroupValues, path)
    const read = new Map<string, Values>()
    for (const column of rows === 0 ? [] : selectedColumns) {
      signal.throwIfAborted()
      const values = await convertErrors(path, async () => {
        if (!isPartial) await checkPages(parquet, group, column.name)
        const pages = { name: column.name, minValues: rows * column.width }
        const source = isPartial ? await selectPages(parquet, index, pages) : parquet
        return readColumn(source, column.name, start, start + rows)
      })
      read.set(column.name, toValues(values, column, start, path))
    }
    for (let at = 0; at < rows; at += batchRows) {
      const count = Math.min(batchRows, rows - at)
      const parts = selectedColumns.map(({ name, width }) => {
        const values = read.get(name) ?? new Float64Array()
        return [name, values.slice(at * width, (at + count) * width)] as const
      })
      yield { count, columns: new Map<string, Values>(parts), done: (start + at + count) / total }
    }
    start += rows
    if (start === total) return
  }
}

function toValues(
  values: DecodedArray,
  { name, type, width }: NamedColumn,
  first: number,
  path: string,
): Values {
  if (type === 'text') return Array.from(values as readonly unknown[], (value) => String(value ?? ''))
  if (isIntegers(values)) return values
  if (width === 1 && !Array.isArray(values)) return Float64Array.from(values as ArrayLike<number>, Number)
  const numbers = new Float64Array(values.length * width)
  let isExact = width === 1
  for (let row = 0; row < values.length; row++) {
    const value: unknown = values[row]
    isExact &&= typeof value === 'bigint'
    const list = (isList(value) ? value.flat(Number.POSITIVE_INFINITY) : [value]) as readonly unknown[]
    if (list.length !== width && value != null)
      throw createDamageError(
        `row ${first + row + 1}: ${name} has ${list.length} numbers, not ${width}`,
        path,
      )
    for (let k = 0; k < width; k++) numbers[row * width + k] = toNumber(list[k])
  }
  return (isExact ? toIntegers(values as readonly bigint[]) : undefined) ?? numbers
}

const toNumber = (value: unknown): number => (value == null ? Number.NaN : Number(value))
