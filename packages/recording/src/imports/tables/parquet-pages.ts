import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { AsyncBuffer, ColumnMetaData, Compressors, PageHeader, RowGroup } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { decompressLz4, decompressLz4Raw } from 'hyparquet-compressors'
import { createDamageError, createLimitError } from './table.ts'

/** Maximum number of values of a column in a row group. */
export const maxValues = 16 * 1024 ** 2

const maxPageBytes = 256 * 1024 ** 2

/** Limit their output to the declared size. hyparquet has its own for Snappy. */
export const compressors: Compressors = {
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
}

export async function checkPages(
  { file, path }: { readonly file: AsyncBuffer; readonly path: string },
  { columns, num_rows }: RowGroup,
  name: string,
): Promise<void> {
  for (const { meta_data: meta, file_path } of columns) {
    if (meta?.path_in_schema[0] !== name) continue
    if (file_path) throw createDamageError(`${name} is in another file`, path)
    if (meta.num_values < num_rows) throw createDamageError(`${name} has fewer values than rows`, path)
    if (meta.num_values > BigInt(maxValues))
      throw createLimitError(`${name} has ${meta.num_values} values in a row group`, maxValues, path)
    const start = getStartOffset(meta)
    const bytes = await file.slice(start, start + Number(meta.total_compressed_size))
    const measured = measurePages(bytes, { meta, path, minValues: Number(meta.num_values), isComplete: true })
    if (measured?.values !== Number(meta.num_values))
      throw createDamageError(
        `${name} has ${measured?.values} values in its pages, not ${meta.num_values}`,
        path,
      )
  }
}

const getStartOffset = (meta: ColumnMetaData): number =>
  Number(meta.dictionary_page_offset || meta.data_page_offset)

/** Number of bytes of a column that are searched for its first pages. */
const prefixBytes = 256 * 1024

/** Selects the first pages of each column that have at least `minValues` values. */
export async function selectFirstPages(
  { file, path }: { readonly file: AsyncBuffer; readonly path: string },
  group: RowGroup,
  { name, minValues }: { readonly name: string; readonly minValues: number },
): Promise<RowGroup> {
  const columns = await Promise.all(
    group.columns.map(async (column) => {
      const { meta_data: meta, file_path } = column
      if (meta?.path_in_schema[0] !== name) return column
      if (file_path) throw createDamageError(`${name} is in another file`, path)
      const [start, size] = [getStartOffset(meta), Number(meta.total_compressed_size)]
      for (let length = prefixBytes; ; length *= 4) {
        const isComplete = length >= size
        const bytes = await file.slice(start, start + Math.min(length, size))
        const measured = measurePages(bytes, { meta, path, minValues, isComplete })
        if (measured === undefined) continue
        const total_compressed_size = BigInt(measured.bytes)
        return {
          ...column,
          meta_data: { ...meta, total_compressed_size, num_values: BigInt(measured.values) },
        }
      }
    }),
  )
  return { ...group, columns }
}

interface PageOptions {
  readonly meta: ColumnMetaData
  readonly path: string
  readonly minValues: number
  readonly isComplete: boolean
}

/** Returns the size of the first pages with `minValues` values; `undefined` if they do not fit into `bytes`. */
function measurePages(
  bytes: ArrayBuffer,
  { meta: { path_in_schema }, path, minValues, isComplete }: PageOptions,
): { readonly bytes: number; readonly values: number } | undefined {
  const reader = { view: new DataView(bytes), offset: 0 }
  const name = path_in_schema[0]
  let values = 0
  while (values < minValues && reader.offset < bytes.byteLength - 1) {
    const page = readHeader(reader, isComplete)
    if (page === undefined) return undefined
    const { compressed_page_size: size, uncompressed_page_size: length } = page
    const data = page.data_page_header ?? page.data_page_header_v2
    const count = data?.num_values ?? page.dictionary_page_header?.num_values ?? 0
    if (!isComplete && reader.offset + size > bytes.byteLength) return undefined
    if (!(size >= 0 && reader.offset + size <= bytes.byteLength && length >= 0 && count >= 0))
      throw createDamageError(`${name} has a page outside its column`, path)
    if (length > maxPageBytes)
      throw createLimitError(`${name} has a page of ${length} bytes`, maxPageBytes, path)
    if (count > maxValues) throw createLimitError(`${name} has a page of ${count} values`, maxValues, path)
    if (data !== undefined) values += data.num_values
    reader.offset += size
  }
  return values < minValues && !isComplete ? undefined : { bytes: reader.offset, values }
}

/** The last header of an incompletely read column may be incomplete. */
function readHeader(reader: Parameters<typeof parquetHeader>[0], isWhole: boolean): PageHeader | undefined {
  try {
    return parquetHeader(reader)
  } catch (error) {
    if (isWhole) throw error
    return undefined
  }
}
