/** Edits the cells of a notebook; all other characters of the file stay the same. */
import { TrmError } from '../../errors.ts'
import { placeEdits, type TextEdit } from '../candidate/edit-span.ts'
import { parseText, replaceSpans } from '../candidate/edited-text.ts'
import type { CellAddress, CellKind, Edit } from '../candidate/types.ts'
import { type Cell, findCell, type Notebook, readNotebook } from './notebook.ts'

interface EditedNotebook {
  readonly text: string
  /** Indices before the edits of cells whose outputs belong to an earlier source. */
  readonly stale: readonly number[]
}

interface Insertion {
  readonly before: number
  readonly kind: CellKind
  readonly source: string
}

/** Changes of the list of cells. */
interface CellChanges {
  readonly sources: Map<Cell, string>
  readonly deleted: Set<Cell>
  readonly inserted: Insertion[]
}

/**
 * Edits cells. Addresses, and lines within a cell, refer to the notebook before the first edit. Throws `INVALID_NOTEBOOK`,
 * `CELL_NOT_FOUND`, `INVALID_EDIT`, and the errors of `placeEdits`.
 */
export function editNotebook(path: string, text: string, edits: readonly Edit[]): EditedNotebook {
  const notebook = readNotebook(path, text)
  const changes: CellChanges = { sources: new Map(), deleted: new Set(), inserted: [] }
  const textEdits = new Map<Cell, TextEdit[]>()
  for (const [index, edit] of edits.entries()) {
    const createError = (reason: string) =>
      new TrmError('INVALID_EDIT', `edit ${index + 1} ${reason}: ${path}`, {
        data: { path, edit: index + 1 },
      })
    const address = edit.cell
    if (address === undefined) throw createError('of a notebook names no cell')
    if (edit.type === 'insertCell') {
      const before = address === notebook.cells.length ? address : findCell(path, notebook, address).index
      changes.inserted.push({ before, kind: edit.kind, source: toSource(edit.content) })
      continue
    }
    const cell = findCell(path, notebook, address)
    const isWhole = edit.type === 'deleteCell' || edit.type === 'replaceCell'
    if (changes.sources.has(cell) || changes.deleted.has(cell) || (isWhole && textEdits.has(cell)))
      throw createError(`changes cell ${address}, which another edit replaces or deletes`)
    if (edit.type === 'deleteCell') changes.deleted.add(cell)
    else if (edit.type === 'replaceCell') changes.sources.set(cell, toSource(edit.content))
    else textEdits.set(cell, [...(textEdits.get(cell) ?? []), edit])
  }
  for (const [cell, own] of textEdits) {
    const source = parseText(cell.source)
    changes.sources.set(cell, replaceSpans(source, placeEdits(source, own, `${path}, cell ${cell.index}`)))
  }
  return finish(path, notebook, changes)
}

/** Replaces the source of one cell by the result of `change`. */
export function editCell(
  path: string,
  text: string,
  address: CellAddress,
  change: (source: string, name: string) => string,
): EditedNotebook {
  const notebook = readNotebook(path, text)
  const cell = findCell(path, notebook, address)
  const source = change(cell.source, `${path}, cell ${cell.index}`)
  return finish(path, notebook, { sources: new Map([[cell, source]]), deleted: new Set(), inserted: [] })
}

/** Jupyter writes the last line of a cell without an end. */
const toSource = (content: string): string => content.replaceAll('\r\n', '\n').replace(/\n$/, '')

function finish(path: string, notebook: Notebook, changes: CellChanges): EditedNotebook {
  for (const [cell, source] of changes.sources) if (source === cell.source) changes.sources.delete(cell)
  const isChanged = changes.sources.size + changes.deleted.size + changes.inserted.length > 0
  const text = isChanged ? writeCells(notebook, changes) : notebook.text
  readNotebook(path, text)
  const stale = [...changes.sources.keys()].filter(({ hasOutput }) => hasOutput).map(({ index }) => index)
  return { text, stale: stale.toSorted((a, b) => a - b) }
}

/** The formatting of a notebook. */
interface Style {
  /** One step of indentation; empty if the file is one line. */
  readonly step: string
  /** Between a name and its value. */
  readonly colon: string
  /** Empty if the file is one line. */
  readonly newline: string
  /** Whether other characters than ASCII are written as `\u` escapes. */
  readonly isAscii: boolean
}

function detectStyle({ text, listRange }: Notebook): Style {
  const newline = text.includes('\r\n') ? '\r\n' : text.trimEnd().includes('\n') ? '\n' : ''
  const [, step = ' '] = /^\ufeff?\{\r?\n([ \t]+)"/.exec(text) ?? []
  const [, colon = ': '] = /"cells"(\s*:\s*)$/.exec(text.slice(0, listRange.start)) ?? []
  const hasEscapes = /\\u(?!00[0-7])[0-9a-fA-F]{4}/.test(text)
  const isAscii = hasEscapes && !/[\u0080-\uffff]/.test(text.replace(/^\ufeff/, ''))
  return { step: newline === '' ? '' : step, colon, newline, isAscii }
}

function writeCells(notebook: Notebook, { sources, deleted, inserted }: CellChanges): string {
  const { text, cells, listRange } = notebook
  const style = detectStyle(notebook)
  const written: string[] = []
  for (let index = 0; index <= cells.length; index++) {
    for (const insertion of inserted)
      if (insertion.before === index) written.push(writeNewCell(notebook, insertion, style))
    const cell = cells[index]
    if (cell !== undefined && !deleted.has(cell))
      written.push(writeCell(text, cell, sources.get(cell), style))
  }
  return `${text.slice(0, listRange.start)}[${joinCells(notebook, written, style)}]${text.slice(listRange.end)}`
}

/** Joins cells with the white space and commas around the first cells of the notebook. */
function joinCells({ text, cells, listRange }: Notebook, written: readonly string[], style: Style): string {
  const [first, second, last] = [cells[0], cells[1], cells.at(-1)]
  if (written.length === 0) return ''
  const line = style.newline + style.step.repeat(2)
  const gap =
    first === undefined || second === undefined ? `,${line}` : text.slice(first.range.end, second.range.start)
  const lead = first === undefined ? line : text.slice(listRange.start + 1, first.range.start)
  const trail =
    last === undefined ? style.newline + style.step : text.slice(last.range.end, listRange.end - 1)
  return lead + written.join(gap) + trail
}

function writeCell(text: string, cell: Cell, source: string | undefined, style: Style): string {
  const { range, sourceRange } = cell
  if (source === undefined) return text.slice(range.start, range.end)
  const line = text.slice(text.lastIndexOf('\n', sourceRange.start) + 1, sourceRange.start)
  const indent = style.step === '' ? '' : (/^[ \t]*/.exec(line)?.[0] ?? '')
  const value = cell.isList ? writeLines(source, indent, style) : quote(source, style)
  return text.slice(range.start, sourceRange.start) + value + text.slice(sourceRange.end, range.end)
}

function writeLines(source: string, indent: string, style: Style): string {
  if (source === '') return '[]'
  const parts = (source.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => quote(line, style))
  return `[${joinItems(parts, indent, style)}]`
}

/** Joins the members of a list or an object whose closing bracket is indented by `indent`. */
function joinItems(items: readonly string[], indent: string, { newline, step, colon }: Style): string {
  if (newline === '') return items.join(colon === ':' ? ',' : ', ')
  const inner = newline + indent + step
  return `${inner}${items.join(`,${inner}`)}${newline}${indent}`
}

function quote(text: string, { isAscii }: Style): string {
  const json = JSON.stringify(text)
  if (!isAscii) return json
  const toEscape = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  return json.replace(/[\u007f-\uffff]/g, toEscape)
}

/** Writes a cell as Jupyter does, with sorted names. */
function writeNewCell(notebook: Notebook, { kind, source, before }: Insertion, style: Style): string {
  const field = (name: string, value: string) => `"${name}"${style.colon}${value}`
  const fields = [
    field('cell_type', `"${kind}"`),
    ...(kind === 'code' ? [field('execution_count', 'null')] : []),
    ...(notebook.hasIds ? [field('id', `"${createId(notebook, `${before} ${source}`)}"`)] : []),
    field('metadata', '{}'),
    ...(kind === 'code' ? [field('outputs', '[]')] : []),
    field('source', writeLines(source, style.step.repeat(3), style)),
  ]
  return `{${joinItems(fields, style.step.repeat(2), style)}}`
}

/** Creates an unused id of eight hex digits from the content of the cell (FNV-1a). */
function createId({ cells }: Notebook, seed: string): string {
  let hash = 0x811c9dc5
  for (const letter of seed) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0
  const toId = () => hash.toString(16).padStart(8, '0')
  while (cells.some((cell) => cell.id === toId())) hash = (hash + 1) >>> 0
  return toId()
}
