import type { FileHandle } from 'node:fs/promises'

/** The file is damaged, or changed while it was being read. */
export class MalformedFile extends Error {
  override readonly name = 'MalformedFile'
}

const interiorTable = 5
const leafTable = 13

/** Enough for thousands of tables. */
const maxSchemaPages = 1000

interface Leaf {
  readonly page: Buffer
  readonly at: number
}

/**
 * Reads pages of an SQLite file without a lock or a copy (https://sqlite.org/fileformat2.html, sections 1.3 and 1.6).
 * Methods throw `MalformedFile`.
 */
export class SqlitePages {
  readonly #file: FileHandle
  readonly #pageSize: number
  readonly #pageCount: number
  readonly #size: number

  /** `header` is the first 100 bytes of the file, `size` its length in bytes. */
  constructor(file: FileHandle, header: Buffer, size: number) {
    const pageSize = header.readUInt16BE(16)
    this.#file = file
    this.#size = size
    this.#pageSize = pageSize === 1 ? 65_536 : pageSize
    // The page count is valid only if "version-valid-for" equals the change counter.
    this.#pageCount = header.readUInt32BE(92) === header.readUInt32BE(24) ? header.readUInt32BE(28) : 0
  }

  async readTables(): Promise<ReadonlyMap<string, number>> {
    const pageSize = this.#pageSize
    if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) throw new MalformedFile(`page size ${pageSize}`)
    if (this.#pageCount * pageSize > this.#size)
      throw new MalformedFile(`${this.#pageCount} pages do not fit into ${this.#size} bytes`)
    const tables = new Map<string, number>()
    for await (const leaf of this.#leaves(1, maxSchemaPages)) {
      if (leaf === 'too many') break
      for (const cell of readCells(leaf.page, leaf.at, 8)) {
        const entry = readSchemaCell(leaf.page, cell)
        if (entry?.type === 'table') tables.set(entry.name, entry.root)
      }
    }
    return tables
  }

  /** Returns null if counting would read more than `maxPages` pages. */
  async countRows(root: number, maxPages: number): Promise<number | null> {
    let count = 0
    for await (const leaf of this.#leaves(root, maxPages)) {
      if (leaf === 'too many') return null
      count += leaf.page.readUInt16BE(leaf.at + 3)
    }
    return count
  }

  async *#leaves(root: number, maxPages: number): AsyncGenerator<Leaf | 'too many'> {
    const queue = [root]
    const visitedPages = new Set<number>()
    for (let number = queue.pop(); number !== undefined; number = queue.pop()) {
      if (visitedPages.has(number)) throw new MalformedFile(`page ${number} is in the tree twice`)
      if (visitedPages.size >= maxPages) return yield 'too many'
      visitedPages.add(number)
      const page = await this.#readPage(number)
      const at = number === 1 ? 100 : 0
      const type = page[at]
      if (type === leafTable) yield { page, at }
      else if (type === interiorTable) queue.push(page.readUInt32BE(at + 8), ...readChildren(page, at))
      else throw new MalformedFile(`page ${number} is not a table page`)
    }
  }

  async #readPage(number: number): Promise<Buffer> {
    const position = (number - 1) * this.#pageSize
    if (number < 1 || position + this.#pageSize > this.#size)
      throw new MalformedFile(`page ${number} is not in the file`)
    const { buffer, bytesRead } = await this.#file.read(
      Buffer.alloc(this.#pageSize),
      0,
      this.#pageSize,
      position,
    )
    if (bytesRead < this.#pageSize) throw new MalformedFile(`page ${number} is no longer in the file`)
    return buffer
  }
}

/** Offsets of cells follow a header of 8 bytes (leaf) or 12 (interior). */
function readCells(page: Buffer, at: number, headerLength: number): readonly number[] {
  const count = page.readUInt16BE(at + 3)
  if (at + headerLength + 2 * count > page.length) throw new MalformedFile('more cells than fit on a page')
  return Array.from({ length: count }, (_, i) => page.readUInt16BE(at + headerLength + 2 * i))
}

const readChildren = (page: Buffer, at: number): readonly number[] =>
  readCells(page, at, 12).map((cell) => {
    if (cell + 4 > page.length) throw new MalformedFile('a cell is outside of its page')
    return page.readUInt32BE(cell)
  })

/** Returns `undefined` if the row continues on an overflow page. */
function readSchemaCell(
  page: Buffer,
  cell: number,
): { type: string; name: string; root: number } | undefined {
  const at = { offset: cell }
  readVarint(page, at) // Payload size.
  readVarint(page, at) // Row id.
  const start = at.offset
  const headerEnd = start + readVarint(page, at)
  const serials = [0, 0, 0, 0].map(() => (at.offset < headerEnd ? readVarint(page, at) : 0))
  let offset = headerEnd
  const fields = serials.map((serial) => {
    const field = page.subarray(offset, offset + getLength(serial))
    offset += getLength(serial)
    return field
  })
  const [type, name, , root] = fields
  if (!type || !name || !root || offset > page.length || root.length === 0 || root.length > 6)
    return undefined
  return { type: type.toString('utf8'), name: name.toString('utf8'), root: root.readUIntBE(0, root.length) }
}

function getLength(serial: number): number {
  if (serial >= 12) return (serial - 12 - (serial % 2)) / 2
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][serial] ?? 0
}

function readVarint(page: Buffer, at: { offset: number }): number {
  let value = 0
  for (let i = 0; i < 8; i++) {
    const byte = page[at.offset++]
    if (byte === undefined) throw new MalformedFile('a number exceeds its page')
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return value
  }
  return value * 256 + (page[at.offset++] ?? 0)
}
