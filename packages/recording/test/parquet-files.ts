/** Writes Parquet files of doubles in one row group, page by page (https://parquet.apache.org/docs/file-format). */

/** Thrift values: 32-bit integers, 64-bit integers, strings, lists, and structs by field number. */
type Thrift = number | bigint | string | readonly Thrift[] | { readonly [field: number]: Thrift }

const getType = (value: Thrift): number =>
  typeof value === 'number'
    ? 5
    : typeof value === 'bigint'
      ? 6
      : typeof value === 'string'
        ? 8
        : Array.isArray(value)
          ? 9
          : 12

function writeVarint(value: bigint): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return [...bytes, Number(rest)]
}

/** Encodes a value with the compact protocol. Lists must have fewer than 15 values. */
function encode(value: Thrift): number[] {
  if (typeof value === 'number' || typeof value === 'bigint') return writeVarint(BigInt(value) << 1n)
  if (typeof value === 'string') return [...writeVarint(BigInt(value.length)), ...Buffer.from(value)]
  if (Array.isArray(value))
    return [(value.length << 4) | getType(value[0] ?? 0), ...(value as readonly Thrift[]).flatMap(encode)]
  const fields = Object.entries(value as Readonly<Record<string, Thrift>>)
  let before = 0
  return [
    ...fields.flatMap(([field, one]) => {
      const delta = Number(field) - before
      before = Number(field)
      return [(delta << 4) | getType(one), ...encode(one)]
    }),
    0,
  ]
}

const [doubleType, dataPage, plain, rle, required] = [5, 0, 0, 3, 0]

interface ParquetColumn {
  readonly name: string
  readonly values: readonly number[]
}

/** Returns the file, and the offset of each page by column. */
export function writeParquet(columns: readonly ParquetColumn[], pageRows: number) {
  const parts: Buffer[] = [Buffer.from('PAR1')]
  let offset = 4
  const add = (part: Buffer): void => {
    parts.push(part)
    offset += part.length
  }
  const pages: number[][] = []
  const chunks = columns.map(({ name, values }): Thrift => {
    const start = offset
    const own: number[] = []
    pages.push(own)
    for (let row = 0; row < values.length; row += pageRows) {
      own.push(offset)
      const data = Buffer.from(Float64Array.from(values.slice(row, row + pageRows)).buffer)
      const header = { 1: data.length / 8, 2: plain, 3: rle, 4: rle }
      add(Buffer.from(encode({ 1: dataPage, 2: data.length, 3: data.length, 5: header })))
      add(data)
    }
    const size = BigInt(offset - start)
    const [count, at] = [BigInt(values.length), BigInt(start)]
    return { 2: at, 3: { 1: doubleType, 2: [plain], 3: [name], 4: 0, 5: count, 6: size, 7: size, 9: at } }
  })
  const rows = BigInt(columns[0]?.values.length ?? 0)
  const schema: Thrift[] = [
    { 4: 'schema', 5: columns.length },
    ...columns.map(({ name }) => ({ 1: doubleType, 3: required, 4: name })),
  ]
  const footer = Buffer.from(
    encode({ 1: 1, 2: schema, 3: rows, 4: [{ 1: chunks, 2: BigInt(offset), 3: rows }] }),
  )
  const end = Buffer.from('\0\0\0\0PAR1')
  end.writeUInt32LE(footer.length)
  return { file: Buffer.concat([...parts, footer, end]), pages }
}
