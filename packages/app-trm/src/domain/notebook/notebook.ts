/** A notebook (nbformat 4) as text, with the positions of its cells. */
import { type ObjectExpression, type Property, parseExpressionAt } from 'acorn'
import { TrmError } from '../../errors.ts'
import type { CellAddress, CellKind } from '../candidate/types.ts'

export interface Cell {
  /** Among all cells, from 0. */
  readonly index: number
  /** `undefined` before nbformat 4.5. */
  readonly id: string | undefined
  readonly kind: CellKind
  readonly source: string
  readonly range: Range
  /** The value of the source. */
  readonly sourceRange: Range
  /** Whether the source is a list of lines, as Jupyter writes it, or one string. */
  readonly isList: boolean
  readonly hasOutput: boolean
}

/** Offsets in the text of the file. */
interface Range {
  readonly start: number
  readonly end: number
}

export interface Notebook {
  readonly text: string
  readonly cells: readonly Cell[]
  /** The list of cells with its brackets. */
  readonly listRange: Range
  /** Whether every cell must have an id (nbformat 4.5). */
  readonly hasIds: boolean
  /** Language of the code cells, in lower case. */
  readonly language: string
}

export const isNotebook = (path: string): boolean => /\.ipynb$/i.test(path)

/** Parses a notebook. Throws `INVALID_NOTEBOOK`. */
export function readNotebook(path: string, text: string): Notebook {
  const createError = (reason: string) =>
    new TrmError('INVALID_NOTEBOOK', `${reason}: ${path}`, { data: { path } })
  const data = parseJson(text)
  if (data === undefined) throw createError('the file is not JSON')
  const { cells, nbformat, nbformat_minor, metadata } = toRecord(data)
  if (!Array.isArray(cells) || nbformat !== 4) throw createError('the file is not a notebook of format 4')
  // JSON is a subset of ECMAScript since ES2019, so its parser can locate every value.
  const root = parseExpressionAt(text, text.startsWith('\ufeff') ? 1 : 0, { ecmaVersion: 2025 })
  const list = root.type === 'ObjectExpression' ? findProperty(root, 'cells')?.value : undefined
  if (list?.type !== 'ArrayExpression') throw createError('the list of cells was not found')
  return {
    text,
    cells: list.elements.map((node, index) => {
      const cell =
        node?.type === 'ObjectExpression' ? readCell(node, toRecord(cells[index]), index) : undefined
      if (cell === undefined) throw createError(`cell ${index} has no source or an unknown type`)
      return cell
    }),
    listRange: { start: list.start, end: list.end },
    hasIds: typeof nbformat_minor === 'number' && nbformat_minor >= 5,
    language: readLanguage(toRecord(metadata)),
  }
}

/** Finds the cell of an address. Throws `CELL_NOT_FOUND` with `data.cells`. */
export function findCell(path: string, { cells }: Notebook, address: CellAddress): Cell {
  const found = cells.find(({ id, index }) => (typeof address === 'number' ? index : id) === address)
  if (found) return found
  const known = cells.slice(0, 100).map(({ index, id, kind }) => ({ index, id, kind }))
  throw new TrmError('CELL_NOT_FOUND', `no cell ${address} among ${cells.length}: ${path}`, {
    data: { path, cell: address, cells: known },
  })
}

/** Replaces IPython magics and shell commands by blank lines. */
export function removeMagics(source: string): string {
  const plain = source.trimStart().startsWith('%%') ? source.replace(/[^\n]+/g, '') : source
  return plain.replace(/^[^\S\n]*(?:\w+[^\S\n]*=[^\S\n]*)?[%!?].*$|^.*\?[^\S\n]*$/gm, '')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

const findProperty = (node: ObjectExpression, name: string): Property | undefined =>
  node.properties
    .filter((one) => one.type === 'Property')
    .findLast(({ key }) => key.type === 'Literal' && key.value === name)

function readCell(
  node: ObjectExpression,
  cell: Readonly<Record<string, unknown>>,
  index: number,
): Cell | undefined {
  const value = findProperty(node, 'source')?.value
  const source = Array.isArray(cell.source) ? cell.source.join('') : cell.source
  const kind = cell.cell_type
  if (value === undefined || typeof source !== 'string') return undefined
  if (kind !== 'code' && kind !== 'markdown' && kind !== 'raw') return undefined
  return {
    index,
    id: typeof cell.id === 'string' ? cell.id : undefined,
    kind,
    source,
    range: { start: node.start, end: node.end },
    sourceRange: { start: value.start, end: value.end },
    isList: Array.isArray(cell.source),
    hasOutput: Array.isArray(cell.outputs) && cell.outputs.length > 0,
  }
}

function readLanguage(metadata: Readonly<Record<string, unknown>>): string {
  const { name } = toRecord(metadata.language_info)
  const { language } = toRecord(metadata.kernelspec)
  const found = typeof name === 'string' ? name : language
  return typeof found === 'string' ? found.toLowerCase() : 'python'
}

const toRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
