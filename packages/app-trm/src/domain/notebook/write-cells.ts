/** Writes changed cells back into the text of a notebook; every other character of the file stays. */
import type { CellKind } from '../candidate/types.ts'
import type { Cell, Notebook } from './notebook.ts'

/** A change of the list of cells. */
export type CellChange =
  | { readonly type: 'source'; readonly cell: Cell; readonly source: string }
  | { readonly type: 'insert'; readonly before: number; readonly kind: CellKind; readonly source: string }
  | { readonly type: 'delete'; readonly cell: Cell }

/** How a notebook is written. */
interface Style {
  /** One step of indentation; empty where the file stands on one line. */
  readonly step: string
  /** Between a name and its value. */
  readonly colon: string
  readonly newline: string
  /** True where only ASCII is written and the rest as `\u` escapes. */
  readonly isAscii: boolean
}

/** The text of the notebook with the changes made, at most one for each cell. */
export function writeCells(notebook: Notebook, changes: readonly CellChange[]): string {
  const { text, cells, cellsPlace } = notebook
  const style = styleOf(notebook)
  const inner = text.slice(cellsPlace.start + 1, cellsPlace.end - 1)
  const [first, last] = [cells[0], cells.at(-1)]
  // What stands before the first cell, between two, and after the last: blanks and commas.
  const gap = (index: number): string => {
    const [left, right] = [cells[index - 1], cells[index]]
    if (left === undefined || right === undefined) return `,${style.newline}${style.step.repeat(2)}`
    return text.slice(left.place.end, right.place.start)
  }
  const written: string[] = []
  for (let index = 0; index <= cells.length; index++) {
    for (const change of changes) {
      if (change.type === 'insert' && change.before === index) written.push(newCell(notebook, change, style))
    }
    const cell = cells[index]
    if (cell === undefined || changes.some((one) => one.type === 'delete' && one.cell === cell)) continue
    const change = changes.find((one) => one.type === 'source' && one.cell === cell)
    written.push(
      change?.type === 'source' ? withSource(text, cell, change.source, style) : cellText(text, cell),
    )
  }
  const isEmpty = first === undefined || last === undefined
  const lead = isEmpty
    ? style.newline + style.step.repeat(2)
    : text.slice(cellsPlace.start + 1, first.place.start)
  const trail = isEmpty ? style.newline + style.step : text.slice(last.place.end, cellsPlace.end - 1)
  const isUntouched = written.length === 0 && inner.trim() === ''
  const list = isUntouched ? inner : written.length === 0 ? '' : lead + written.join(gap(1)) + trail
  return `${text.slice(0, cellsPlace.start)}[${list}]${text.slice(cellsPlace.end)}`
}

const cellText = (text: string, { place }: Cell): string => text.slice(place.start, place.end)

function withSource(text: string, cell: Cell, source: string, style: Style): string {
  const { place, sourcePlace } = cell
  const value = cell.isList ? listOf(source, text, sourcePlace.start, style) : quoted(source, style)
  return text.slice(place.start, sourcePlace.start) + value + text.slice(sourcePlace.end, place.end)
}

/** A list of lines, one below the other, indented from the line in which it starts. */
function listOf(source: string, text: string, at: number, style: Style): string {
  const lineStart = text.lastIndexOf('\n', at) + 1
  const indent = style.step === '' ? '' : (/^[ \t]*/.exec(text.slice(lineStart, at))?.[0] ?? '')
  return lines(source, indent, style)
}

function lines(source: string, indent: string, style: Style): string {
  if (source === '') return '[]'
  const parts = (source.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => quoted(line, style))
  if (style.newline === '') return `[${parts.join(style.colon === ':' ? ',' : ', ')}]`
  const inner = style.newline + indent + style.step
  return `[${inner}${parts.join(`,${inner}`)}${style.newline}${indent}]`
}

function quoted(text: string, { isAscii }: Style): string {
  const json = JSON.stringify(text)
  if (!isAscii) return json
  return json.replace(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A cell as Jupyter writes one: names in the order of the alphabet. */
function newCell(
  notebook: Notebook,
  { kind, source, before }: Extract<CellChange, { type: 'insert' }>,
  style: Style,
): string {
  const field = (name: string, value: string) => `"${name}"${style.colon}${value}`
  const indent = style.step.repeat(3)
  const fields = [
    field('cell_type', `"${kind}"`),
    ...(kind === 'code' ? [field('execution_count', 'null')] : []),
    ...(notebook.hasIds ? [field('id', `"${newId(notebook, `${before} ${source}`)}"`)] : []),
    field('metadata', '{}'),
    ...(kind === 'code' ? [field('outputs', '[]')] : []),
    field('source', lines(source, indent, style)),
  ]
  if (style.newline === '') return `{${fields.join(style.colon === ':' ? ',' : ', ')}}`
  return `{${style.newline}${indent}${fields.join(`,${style.newline}${indent}`)}${style.newline}${style.step.repeat(2)}}`
}

/** An id of eight hex digits, as Jupyter makes them, but from what the cell holds (FNV-1a), and not taken yet. */
function newId({ cells }: Notebook, seed: string): string {
  let hash = 0x811c9dc5
  for (const letter of seed) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0
  let id = hash.toString(16).padStart(8, '0')
  while (cells.some((cell) => cell.id === id)) {
    hash = (hash + 1) >>> 0
    id = hash.toString(16).padStart(8, '0')
  }
  return id
}

function styleOf({ text, cellsPlace }: Notebook): Style {
  const newline = text.includes('\r\n') ? '\r\n' : text.trimEnd().includes('\n') ? '\n' : ''
  const [, step = ' '] = /^\ufeff?\{\r?\n([ \t]+)"/.exec(text) ?? []
  const [, colon = ': '] = /"cells"(\s*:\s*)$/.exec(text.slice(0, cellsPlace.start)) ?? []
  const isAscii =
    /\\u(?!00[0-7])[0-9a-fA-F]{4}/.test(text) && !/[\u0080-\uffff]/.test(text.replace(/^\ufeff/, ''))
  return { step: newline === '' ? '' : step, colon, newline, isAscii }
}
