/** Limits are checked before memory is allocated. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { AsyncBuffer, ColumnMetaData, Compressors, RowGroup } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { decompressLz4, decompressLz4Raw } from 'hyparquet-compressors'
import { createDamage, createLimit } from './table.ts'

/** Of a column in a row group. */
export const maxValues = 16 * 1024 ** 2

/** Of a decompressed page. */
const maxPageBytes = 256 * 1024 ** 2

/** Decompressors that stop at the size which the page claims. Snappy is part of the reader. */
export const compressors: Compressors = {
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
}

/** Throws `RECORDING_DAMAGED` and `IMPORT_LIMIT`. */
export async function checkPages(
  { file, path }: { readonly file: AsyncBuffer; readonly path: string },
  { columns, num_rows }: RowGroup,
  name: string,
): Promise<void> {
  for (const { meta_data: meta, file_path } of columns) {
    if (meta?.path_in_schema[0] !== name) continue
    if (file_path) throw createDamage(`${name} is in another file`, path)
    if (meta.num_values < num_rows) throw createDamage(`${name} has fewer values than rows`, path)
    if (meta.num_values > BigInt(maxValues))
      throw createLimit(`${name} has ${meta.num_values} values in a row group`, maxValues, path)
    const start = Number(meta.dictionary_page_offset || meta.data_page_offset)
    const bytes = await file.slice(start, start + Number(meta.total_compressed_size))
    checkHeaders(bytes, meta, path)
  }
}

function checkHeaders(
  bytes: ArrayBuffer,
  { path_in_schema, num_values }: ColumnMetaData,
  path: string,
): void {
  const reader = { view: new DataView(bytes), offset: 0 }
  const name = path_in_schema[0]
  let values = 0
  while (values < Number(num_values) && reader.offset < bytes.byteLength - 1) {
    const page = parquetHeader(reader)
    const { compressed_page_size: size, uncompressed_page_size: length } = page
    const data = page.data_page_header ?? page.data_page_header_v2
    const count = data?.num_values ?? page.dictionary_page_header?.num_values ?? 0
    if (!(size >= 0 && reader.offset + size <= bytes.byteLength && length >= 0 && count >= 0))
      throw createDamage(`${name} has a page outside its column`, path)
    if (length > maxPageBytes) throw createLimit(`${name} has a page of ${length} bytes`, maxPageBytes, path)
    if (count > maxValues) throw createLimit(`${name} has a page of ${count} values`, maxValues, path)
    if (data !== undefined) values += data.num_values
    reader.offset += size
  }
  if (values !== Number(num_values))
    throw createDamage(`${name} has ${values} values in its pages, not ${num_values}`, path)
}
