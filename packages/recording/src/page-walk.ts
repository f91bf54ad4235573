import type { FileHandle } from 'node:fs/promises'

/**
 * A few pages of an SQLite file read as bytes, enough to name its tables and count the rows of one, so that a foreign
 * file can be judged without a lock and without a copy (https://sqlite.org/fileformat2.html, sections 1.3 and 1.6).
 */
export interface PageWalk {
  /** Root pages of the tables, by name. Throws `MalformedFile`. */
  tables(): Promise<ReadonlyMap<string, number>>
  /** Rows of the table with this root page; null where counting would read more than `maxPages`. */
  countRows(root: number, maxPages: number): Promise<number | null>
}

/** The pages do not fit together: the file is damaged, or was being written while it was read. */
export class MalformedFile extends Error {
  override readonly name = 'MalformedFile'
}

const interiorTable = 5
const leafTable = 13

/** Most pages of the schema: thousands of tables. */
const maxSchemaPages = 1000

/** Starts a walk; `header` is the first 100 bytes of the file, `size` its length in bytes. */
export function walkPages(file: FileHandle, header: Buffer, size: number): PageWalk {
  const stated = header.readUInt16BE(16)
  const pageSize = stated === 1 ? 65_536 : stated
  // The page count is valid only where its writer kept it up: "version-valid-for" then equals the change counter.
  const pages = header.readUInt32BE(92) === header.readUInt32BE(24) ? header.readUInt32BE(28) : 0

  const readPage = async (number: number): Promise<Buffer> => {
    const position = (number - 1) * pageSize
    if (number < 1 || position + pageSize > size) throw new MalformedFile(`page ${number} is not in the file`)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(pageSize), 0, pageSize, position)
    if (bytesRead < pageSize) throw new MalformedFile(`page ${number} is not in the file any more`)
    return buffer
  }

  /** Leaf pages of a table, with where their header begins; ends early at `maxPages`. */
  async function* leaves(
    root: number,
    maxPages: number,
  ): AsyncGenerator<{ page: Buffer; at: number } | 'too many'> {
    const queue = [root]
    const seen = new Set<number>()
    for (let number = queue.pop(); number !== undefined; number = queue.pop()) {
      if (seen.has(number)) throw new MalformedFile(`page ${number} is in the tree twice`)
      if (seen.size >= maxPages) return yield 'too many'
      seen.add(number)
      const page = await readPage(number)
      const at = number === 1 ? 100 : 0
      const type = page[at]
      if (type === leafTable) yield { page, at }
      else if (type === interiorTable) queue.push(page.readUInt32BE(at + 8), ...childrenOf(page, at))
      else throw new MalformedFile(`page ${number} is no table page`)
    }
  }

  return {
    async tables() {
      if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0)
        throw new MalformedFile(`page size ${pageSize}`)
      if (pages * pageSize > size) throw new MalformedFile(`${pages} pages do not fit into ${size} bytes`)
      const found = new Map<string, number>()
      for await (const leaf of leaves(1, maxSchemaPages)) {
        if (leaf === 'too many') break
        for (const cell of cellsOf(leaf.page, leaf.at, 8)) {
          const entry = readSchemaCell(leaf.page, cell)
          if (entry?.type === 'table') found.set(entry.name, entry.root)
        }
      }
      return found
    },
    async countRows(root, maxPages) {
      let count = 0
      for await (const leaf of leaves(root, maxPages)) {
        if (leaf === 'too many') return null
        count += leaf.page.readUInt16BE(leaf.at + 3)
      }
      return count
    },
  }
}

/** Offsets of the cells of a page; the pointer array begins after a header of 8 bytes (leaf) or 12 (interior). */
function cellsOf(page: Buffer, at: number, headerLength: number): readonly number[] {
  const count = page.readUInt16BE(at + 3)
  if (at + headerLength + 2 * count > page.length) throw new MalformedFile('more cells than fit on a page')
  return Array.from({ length: count }, (_, i) => page.readUInt16BE(at + headerLength + 2 * i))
}

const childrenOf = (page: Buffer, at: number): readonly number[] =>
  cellsOf(page, at, 12).map((cell) => {
    if (cell + 4 > page.length) throw new MalformedFile('a cell lies outside of its page')
    return page.readUInt32BE(cell)
  })

/** type, name and root page of a row of sqlite_schema; undefined where they do not stand on the page itself. */
function readSchemaCell(
  page: Buffer,
  cell: number,
): { type: string; name: string; root: number } | undefined {
  const at = { offset: cell }
  readVarint(page, at) // payload size
  readVarint(page, at) // rowid
  const start = at.offset
  const headerEnd = start + readVarint(page, at)
  const serials = [0, 0, 0, 0].map(() => (at.offset < headerEnd ? readVarint(page, at) : 0))
  let offset = headerEnd
  const fields = serials.map((serial) => {
    const field = page.subarray(offset, offset + lengthOf(serial))
    offset += lengthOf(serial)
    return field
  })
  const [type, name, , root] = fields
  if (!type || !name || !root || offset > page.length || root.length === 0 || root.length > 6)
    return undefined
  return { type: type.toString('utf8'), name: name.toString('utf8'), root: root.readUIntBE(0, root.length) }
}

/** Bytes of a value with this serial type. */
function lengthOf(serial: number): number {
  if (serial >= 12) return (serial - 12 - (serial % 2)) / 2
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][serial] ?? 0
}

function readVarint(page: Buffer, at: { offset: number }): number {
  let value = 0
  for (let i = 0; i < 8; i++) {
    const byte = page[at.offset++]
    if (byte === undefined) throw new MalformedFile('a number runs over the end of its page')
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return value
  }
  return value * 256 + (page[at.offset++] ?? 0)
}
