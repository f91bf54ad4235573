/** Edits the cells of a notebook (nbformat 4). All other characters of the file remain. */
import { isObject } from '@causeway/protocol'
import { applyEdits, type JSONPath, type ModificationOptions, modify } from 'jsonc-parser'
import { TrmError } from '../../errors.ts'
import { placeEdits, type TextEdit } from './edit-span.ts'
import { parseText, replaceSpans } from './edited-text.ts'
import type { CellAddress, Edit } from './types.ts'

interface Cell {
  /** From 0, among all cells. */
  readonly index: number
  /** `undefined` before nbformat 4.5. */
  readonly id: string | undefined
  readonly kind: 'code' | 'markdown' | 'raw'
  readonly source: string
  /** Whether the source is a list of lines, as in Jupyter, or one string. */
  readonly isList: boolean
  readonly hasOutput: boolean
}

interface Notebook {
  readonly cells: readonly Cell[]
  /** Whether cells require ids (nbformat 4.5). */
  readonly hasIds: boolean
  readonly isPython: boolean
}

interface EditedNotebook {
  readonly text: string
  /** Indices of cells with outputs of an earlier source. */
  readonly stale: readonly number[]
}

export const isNotebook = (path: string): boolean => /\.ipynb$/i.test(path)

export function readNotebook(path: string, text: string): Notebook {
  const createError = (reason: string) =>
    new TrmError('INVALID_NOTEBOOK', `${reason}: ${path}`, { data: { path } })
  const data = parseJson(text)
  if (data === undefined) throw createError('the file is not JSON')
  if (!isObject(data) || !Array.isArray(data.cells) || data.nbformat !== 4)
    throw createError('the file is not a notebook of format 4')
  const metadata = isObject(data.metadata) ? data.metadata : {}
  const { language = 'python' } = isObject(metadata.kernelspec) ? metadata.kernelspec : {}
  return {
    cells: data.cells.map((cell: unknown, index) => {
      const { cell_type: kind, id, source, outputs } = isObject(cell) ? cell : {}
      const joined = Array.isArray(source) ? source.join('') : source
      if (typeof joined !== 'string' || (kind !== 'code' && kind !== 'markdown' && kind !== 'raw'))
        throw createError(`cell ${index} has no source or an unknown type`)
      return {
        index,
        id: typeof id === 'string' ? id : undefined,
        kind,
        source: joined,
        isList: Array.isArray(source),
        hasOutput: Array.isArray(outputs) && outputs.length > 0,
      }
    }),
    hasIds: Number(data.nbformat_minor) >= 5,
    isPython: String(language).toLowerCase() === 'python',
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

function findCell(path: string, { cells }: Notebook, address: CellAddress): Cell {
  const found = cells.find(({ id, index }) => (typeof address === 'number' ? index : id) === address)
  if (found) return found
  const known = cells.slice(0, 100).map(({ index, id, kind }) => ({ index, id, kind }))
  throw new TrmError('CELL_NOT_FOUND', `no cell ${address} among ${cells.length}: ${path}`, {
    data: { path, cell: address, cells: known },
  })
}

/** Returns a cell's Python code with blank lines for IPython magics and shell commands. */
export function removeMagics(source: string): string {
  const plain = source.trimStart().startsWith('%%') ? source.replace(/[^\n]+/g, '') : source
  return plain.replace(/^[^\S\n]*(?:\w+[^\S\n]*=[^\S\n]*)?[%!?].*$|^.*\?[^\S\n]*$/gm, '')
}

/** Edits cells. Addresses, and lines within a cell, refer to the original notebook. */
export function editNotebook(path: string, text: string, edits: readonly Edit[]): EditedNotebook {
  const notebook = readNotebook(path, text)
  const { cells } = notebook
  const sources = new Map<Cell, string | null>()
  const inserted = new Map<number, Extract<Edit, { type: 'insertCell' }>[]>()
  const textEdits = new Map<Cell, TextEdit[]>()
  for (const [index, edit] of edits.entries()) {
    const createError = (reason: string) =>
      new TrmError('INVALID_EDIT', `edit ${index + 1} ${reason}: ${path}`, {
        data: { path, edit: index + 1 },
      })
    const address = edit.cell
    if (address === undefined) throw createError('of a notebook names no cell')
    if (edit.type === 'insertCell') {
      const at = address === cells.length ? address : findCell(path, notebook, address).index
      inserted.set(at, [...(inserted.get(at) ?? []), edit])
      continue
    }
    const cell = findCell(path, notebook, address)
    const isWhole = edit.type === 'deleteCell' || edit.type === 'replaceCell'
    if (sources.has(cell) || (isWhole && textEdits.has(cell)))
      throw createError(`changes cell ${address}, which another edit replaces or deletes`)
    if (isWhole) sources.set(cell, edit.type === 'deleteCell' ? null : toSource(edit.content))
    else textEdits.set(cell, [...(textEdits.get(cell) ?? []), edit])
  }
  for (const [cell, own] of textEdits) {
    const source = parseText(cell.source)
    sources.set(cell, replaceSpans(source, placeEdits(source, own, `${path}, cell ${cell.index}`)))
  }
  const writer = new CellWriter(text)
  // From last to first, so that the other indices stay valid.
  for (let index = cells.length; index >= 0; index--) {
    const cell = cells[index]
    const source = cell && sources.get(cell)
    if (cell !== undefined && source !== undefined) writer.replace(cell, source)
    for (const { kind, content } of inserted.get(index)?.toReversed() ?? [])
      writer.insert(index, createCell(notebook, kind, toSource(content), `${index} ${content}`))
  }
  return finish(path, writer.text, sources)
}

export function editCell(
  path: string,
  text: string,
  address: CellAddress,
  change: (source: string, name: string) => string,
): EditedNotebook {
  const cell = findCell(path, readNotebook(path, text), address)
  const source = change(cell.source, `${path}, cell ${cell.index}`)
  const writer = new CellWriter(text)
  writer.replace(cell, source)
  return finish(path, writer.text, new Map([[cell, source]]))
}

function finish(path: string, text: string, sources: ReadonlyMap<Cell, string | null>): EditedNotebook {
  readNotebook(path, text)
  const isStale = ([cell, source]: [Cell, string | null]) =>
    cell.hasOutput && source !== null && source !== cell.source
  return {
    text,
    stale: [...sources]
      .filter(isStale)
      .map(([{ index }]) => index)
      .toSorted((a, b) => a - b),
  }
}

/** Jupyter writes the last line of a cell without an end. */
const toSource = (content: string): string => content.replaceAll('\r\n', '\n').replace(/\n$/, '')

const toLines = (source: string): string[] => source.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** Creates a cell as Jupyter does, with sorted names. */
const createCell = ({ cells, hasIds }: Notebook, kind: Cell['kind'], source: string, seed: string) => ({
  cell_type: kind,
  ...(kind === 'code' ? { execution_count: null } : {}),
  ...(hasIds ? { id: createId(cells, seed) } : {}),
  metadata: {},
  ...(kind === 'code' ? { outputs: [] } : {}),
  source: toLines(source),
})

/** Creates an unused id of eight hex digits from the cell's content (FNV-1a). */
function createId(cells: readonly Cell[], seed: string): string {
  let hash = 0x811c9dc5
  for (const letter of seed) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0
  const toId = () => hash.toString(16).padStart(8, '0')
  while (cells.some(({ id }) => id === toId())) hash = (hash + 1) >>> 0
  return toId()
}

class CellWriter {
  readonly #mark: string
  readonly #options: ModificationOptions
  /** Whether the file escapes all non-ASCII characters (`\u`). */
  readonly #isAscii: boolean
  #text: string

  constructor(text: string) {
    this.#mark = text.startsWith('\ufeff') ? '\ufeff' : ''
    this.#text = text.slice(this.#mark.length)
    const [, step] = /^\{\r?\n([ \t]+)"/.exec(this.#text) ?? []
    const formattingOptions = { tabSize: step?.length ?? 1, insertSpaces: step !== '\t' }
    this.#options = step === undefined ? {} : { formattingOptions }
    this.#isAscii = /\\u(?!00[0-7])[0-9a-f]{4}/i.test(text) && !/[\u0080-\uffff]/.test(this.#text)
  }

  get text(): string {
    return this.#mark + this.#text
  }

  replace({ index, isList, source: before }: Cell, source: string | null): void {
    if (source === null) this.#modify(['cells', index], undefined)
    else if (source !== before) this.#modify(['cells', index, 'source'], isList ? toLines(source) : source)
  }

  insert(index: number, cell: object): void {
    this.#modify(['cells', index], cell, { isArrayInsertion: true })
  }

  #modify(path: JSONPath, value: unknown, options: ModificationOptions = {}): void {
    const edits = modify(this.#text, path, value, { ...this.#options, ...options })
    const toEscape = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
    const toAscii = (content: string) =>
      this.#isAscii ? content.replace(/[\u007f-\uffff]/g, toEscape) : content
    this.#text = applyEdits(
      this.#text,
      edits.map(({ content, ...edit }) => ({ ...edit, content: toAscii(content) })),
    )
  }
}
