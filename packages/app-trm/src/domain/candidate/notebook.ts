/** Edits the cells of a notebook (nbformat 4). All other characters of the file are preserved. */
import { applyEdits, type JSONPath, type ModificationOptions, modify } from 'jsonc-parser'
import { z } from 'zod'
import { TrmError } from '../../errors.ts'
import { parseObject } from '../parse-object.ts'
import { placeEdits, type TextEdit } from './edit-span.ts'
import { parseText, replaceSpans } from './edited-text.ts'
import type { CellAddress, Edit } from './types.ts'

const notebookSchema = z.object({
  cells: z.array(
    z.object({
      cell_type: z.enum(['code', 'markdown', 'raw']),
      id: z.string().optional(),
      source: z.union([z.string(), z.array(z.string())]),
    }),
  ),
  nbformat: z.literal(4),
  nbformat_minor: z.number().catch(0),
  metadata: z
    .object({ kernelspec: z.object({ language: z.string() }) })
    .catch({ kernelspec: { language: 'python' } }),
})

type Notebook = ReturnType<typeof readNotebook>
type Cell = Notebook['cells'][number]

export const isNotebook = (path: string): boolean => /\.ipynb$/i.test(path)

/** Parses a notebook. Throws `INVALID_NOTEBOOK`. */
export function readNotebook(path: string, text: string) {
  const parsed = notebookSchema.safeParse(parseObject(text))
  if (!parsed.success)
    throw new TrmError('INVALID_NOTEBOOK', `the file is not a notebook of format 4: ${path}`, {
      data: { path },
    })
  const { cells, nbformat_minor, metadata } = parsed.data
  return {
    /** `isList` is whether the file stores the source as a list of lines, as Jupyter does. */
    cells: cells.map(({ cell_type: kind, id, source }, index) => ({
      index,
      id,
      kind,
      source: typeof source === 'string' ? source : source.join(''),
      isList: typeof source !== 'string',
    })),
    /** Whether cells require ids (nbformat 4.5). */
    hasIds: nbformat_minor >= 5,
    isPython: metadata.kernelspec.language.toLowerCase() === 'python',
  }
}

function findCell(path: string, { cells }: Notebook, address: CellAddress): Cell {
  const foundCell = cells.find(({ id, index }) => (typeof address === 'number' ? index : id) === address)
  if (foundCell) return foundCell
  const knownCells = cells.slice(0, 100).map(({ index, id, kind }) => ({ index, id, kind }))
  throw new TrmError('CELL_NOT_FOUND', `no cell ${address} among ${cells.length}: ${path}`, {
    data: { path, cell: address, cells: knownCells },
  })
}

/** Returns a cell's Python code. IPython magics, help and shell commands are replaced with blank lines. */
export function removeMagics(source: string): string {
  const code = source.trimStart().startsWith('%%') ? source.replace(/[^\n]+/g, '') : source
  return code.replace(/^[^\S\n]*(?:\w+[^\S\n]*=[^\S\n]*)?[%!?].*$|^.*\?[^\S\n]*$/gm, '')
}

type Insertion = Extract<Edit, { type: 'insertCell' }>

/** Cell addresses, and lines within a cell, refer to the original notebook. */
export function editNotebook(path: string, text: string, edits: readonly Edit[]): string {
  const notebook = readNotebook(path, text)
  const { length } = notebook.cells
  const insertions: { cellIndex: number; edit: Insertion }[] = []
  const editsByCell = new Map<Cell, Exclude<Edit, Insertion>[]>()
  for (const [index, edit] of edits.entries()) {
    const address = edit.cell
    const reject = (reason: string) =>
      new TrmError('INVALID_EDIT', `edit ${index + 1} ${reason}: ${path}`, {
        data: { path, edit: index + 1 },
      })
    if (address === undefined) throw reject('of a notebook names no cell')
    if (edit.type === 'insertCell') {
      insertions.push({
        cellIndex: address === length ? length : findCell(path, notebook, address).index,
        edit,
      })
      continue
    }
    const cell = findCell(path, notebook, address)
    const cellEdits = editsByCell.get(cell) ?? []
    if (cellEdits.length > 0 && [...cellEdits, edit].some((cellEdit) => !isTextEdit(cellEdit)))
      throw reject(`changes cell ${address}, which another edit replaces or deletes`)
    editsByCell.set(cell, [...cellEdits, edit])
  }
  const writer = new NotebookWriter(notebook, text)
  // Proceeds backwards so that the remaining indices stay valid.
  for (let index = length; index >= 0; index--) {
    const cell = notebook.cells[index]
    const cellEdits = cell && editsByCell.get(cell)
    if (cell !== undefined && cellEdits !== undefined)
      writer.replace(cell, changeSource(path, cell, cellEdits))
    for (const { edit } of insertions.filter(({ cellIndex }) => cellIndex === index).toReversed())
      writer.insert(index, edit)
  }
  return writer.finish(path)
}

const isTextEdit = (edit: Exclude<Edit, Insertion>): edit is TextEdit =>
  edit.type !== 'replaceCell' && edit.type !== 'deleteCell'

/** Returns a cell's new source, or `null` for a deleted cell. */
function changeSource(path: string, { index, source }: Cell, edits: readonly Exclude<Edit, Insertion>[]) {
  const [first] = edits
  if (first?.type === 'deleteCell') return null
  if (first?.type === 'replaceCell') return toCellSource(first.content)
  const parsed = parseText(source)
  return replaceSpans(parsed, placeEdits(parsed, edits.filter(isTextEdit), `${path}, cell ${index}`))
}

/** Jupyter writes the last line of a cell without a line ending. */
const toCellSource = (content: string): string => content.replaceAll('\r\n', '\n').replace(/\n$/, '')

const toLines = (source: string): string[] => source.match(/[^\n]*\n|[^\n]+$/g) ?? []

class NotebookWriter {
  readonly #hasIds: boolean
  readonly #ids: Set<string | undefined>
  readonly #byteOrderMark: string
  readonly #options: ModificationOptions
  /** Whether the file escapes all non-ASCII characters as `\u`. */
  readonly #isAscii: boolean
  #text: string

  constructor({ cells, hasIds }: Notebook, text: string) {
    this.#hasIds = hasIds
    this.#ids = new Set(cells.map(({ id }) => id))
    this.#byteOrderMark = text.startsWith('\ufeff') ? '\ufeff' : ''
    this.#text = text.slice(this.#byteOrderMark.length)
    const [, indent] = /^\{\r?\n([ \t]+)"/.exec(this.#text) ?? []
    const formattingOptions = { tabSize: indent?.length ?? 1, insertSpaces: indent !== '\t' }
    this.#options = indent === undefined ? {} : { formattingOptions }
    this.#isAscii = /\\u(?!00[0-7])[0-9a-f]{4}/i.test(text) && !/[\u0080-\uffff]/.test(this.#text)
  }

  /** Returns the edited text. Throws `INVALID_NOTEBOOK`. */
  finish(path: string): string {
    readNotebook(path, this.#text)
    return this.#byteOrderMark + this.#text
  }

  replace({ index, isList, source: before }: Cell, source: string | null): void {
    if (source === null) this.#modify(['cells', index], undefined)
    else if (source !== before) this.#modify(['cells', index, 'source'], isList ? toLines(source) : source)
  }

  /** Inserts a cell with sorted keys, as Jupyter writes it. */
  insert(index: number, { kind, content }: Insertion): void {
    const cell = {
      cell_type: kind,
      ...(kind === 'code' ? { execution_count: null } : {}),
      ...(this.#hasIds ? { id: this.#createId() } : {}),
      metadata: {},
      ...(kind === 'code' ? { outputs: [] } : {}),
      source: toLines(toCellSource(content)),
    }
    this.#modify(['cells', index], cell, { isArrayInsertion: true })
  }

  #createId(): string {
    const toId = (number: number) => number.toString(16).padStart(8, '0')
    let number = this.#ids.size
    while (this.#ids.has(toId(number))) number++
    this.#ids.add(toId(number))
    return toId(number)
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
