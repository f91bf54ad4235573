/** A notebook (nbformat 4) as text: what its cells hold, and where in the file each of them stands. */

import { CausewayError } from '@causeway/protocol'
import { type ObjectExpression, type Property, parseExpressionAt } from 'acorn'
import type { CellAddress, CellKind } from '../candidate/types.ts'

/** A cell. */
export interface Cell {
  /** Among all cells, from 0. */
  readonly index: number
  /** Its id; notebooks before nbformat 4.5 have none. */
  readonly id: string | undefined
  readonly kind: CellKind
  readonly source: string
  /** Where the cell stands in the text of the file. */
  readonly place: Place
  /** Where the value of its source stands. */
  readonly sourcePlace: Place
  /** Whether the source is a list of lines, as Jupyter writes it, or one string. */
  readonly isList: boolean
  readonly hasOutput: boolean
}

/** Offsets in the text of the file. */
export interface Place {
  readonly start: number
  readonly end: number
}

/** A notebook. */
export interface Notebook {
  readonly text: string
  readonly cells: readonly Cell[]
  /** Where the list of cells stands, brackets included. */
  readonly cellsPlace: Place
  /** True where every cell must have an id: nbformat 4.5 and newer. */
  readonly hasIds: boolean
  /** Language of the code cells, in lower case; `python` where the file does not say. */
  readonly language: string
}

/** True for a path that names a notebook. */
export const isNotebook = (path: string): boolean => /\.ipynb$/i.test(path)

/** Reads a notebook; throws `INVALID_NOTEBOOK` for what Jupyter would not open. */
export function readNotebook(path: string, text: string): Notebook {
  const refuse = (reason: string) =>
    new CausewayError('INVALID_NOTEBOOK', `${reason}: ${path}`, { data: { path } })
  const data = parsed(text)
  if (data === undefined) throw refuse('the file is not JSON')
  const { cells, nbformat, nbformat_minor, metadata } = record(data)
  if (!Array.isArray(cells) || nbformat !== 4) throw refuse('the file is not a notebook of format 4')
  const list = property(placesOf(text), 'cells')
  if (list?.value.type !== 'ArrayExpression') throw refuse('the list of cells cannot be found')
  const read = list.value.elements.map((node, index) => {
    const cell = node?.type === 'ObjectExpression' ? cellOf(node, record(cells[index]), index) : undefined
    if (cell === undefined) throw refuse(`cell ${index} has no source or no known type`)
    return cell
  })
  return {
    text,
    cells: read,
    cellsPlace: { start: list.value.start, end: list.value.end },
    hasIds: typeof nbformat_minor === 'number' && nbformat_minor >= 5,
    language: languageOf(record(metadata)),
  }
}

/** The cell of an address; throws `CELL_NOT_FOUND` with `data.cells`. */
export function cellAt(path: string, { cells }: Notebook, address: CellAddress): Cell {
  const found = cells.find(({ id, index }) => (typeof address === 'number' ? index : id) === address)
  if (found) return found
  throw new CausewayError('CELL_NOT_FOUND', `no cell ${address} among ${cells.length}: ${path}`, {
    data: {
      path,
      cell: address,
      cells: cells.slice(0, 100).map(({ index, id, kind }) => ({ index, id, kind })),
    },
  })
}

/** The code of a cell as everybody but IPython reads it: what IPython handles itself becomes blank lines. */
export function plainCode(source: string): string {
  const plain = source.trimStart().startsWith('%%') ? source.replace(/[^\n]+/g, '') : source
  return plain.replace(/^[^\S\n]*(?:\w+[^\S\n]*=[^\S\n]*)?[%!?].*$|^.*\?[^\S\n]*$/gm, '')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

/** JSON is a subset of ECMAScript since ES2019, so its parser tells where every value stands. */
function placesOf(text: string): ObjectExpression | undefined {
  const node = parseExpressionAt(text, text.startsWith('\ufeff') ? 1 : 0, { ecmaVersion: 2025 })
  return node.type === 'ObjectExpression' ? node : undefined
}

function property(node: ObjectExpression | undefined, name: string): Property | undefined {
  return node?.properties
    .filter((one) => one.type === 'Property')
    .findLast(({ key }) => key.type === 'Literal' && key.value === name)
}

function cellOf(
  node: ObjectExpression,
  cell: Readonly<Record<string, unknown>>,
  index: number,
): Cell | undefined {
  const value = property(node, 'source')?.value
  const source = sourceText(cell.source)
  const kind = cell.cell_type
  if (value === undefined || source === undefined) return undefined
  if (kind !== 'code' && kind !== 'markdown' && kind !== 'raw') return undefined
  return {
    index,
    id: typeof cell.id === 'string' ? cell.id : undefined,
    kind,
    source,
    place: { start: node.start, end: node.end },
    sourcePlace: { start: value.start, end: value.end },
    isList: Array.isArray(cell.source),
    hasOutput: Array.isArray(cell.outputs) && cell.outputs.length > 0,
  }
}

function sourceText(source: unknown): string | undefined {
  if (typeof source === 'string') return source
  if (!Array.isArray(source) || source.some((line) => typeof line !== 'string')) return undefined
  return source.join('')
}

function languageOf(metadata: Readonly<Record<string, unknown>>): string {
  const { name } = record(metadata.language_info)
  const { language } = record(metadata.kernelspec)
  const said = typeof name === 'string' ? name : language
  return typeof said === 'string' ? said.toLowerCase() : 'python'
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
