import { CausewayError } from '@causeway/protocol'
import { editSpans, type TextEdit } from '../candidate/edit-span.ts'
import { editedText, written } from '../candidate/edited-text.ts'
import type { Edit } from '../candidate/types.ts'
import { type Cell, cellAt, type Notebook, readNotebook } from './notebook.ts'
import { type CellChange, writeCells } from './write-cells.ts'

/** A notebook after edits. */
export interface EditedNotebook {
  readonly text: string
  /** Cells whose outputs are those of an earlier source, by index before the edits. */
  readonly stale: readonly number[]
}

/**
 * Edits cells of a notebook. Addresses, and lines within a cell, are those before the first edit. Throws
 * `INVALID_NOTEBOOK`, `CELL_NOT_FOUND`, `INVALID_EDIT` where an edit names no cell, and as `editSpans` does.
 */
export function editNotebook(path: string, text: string, edits: readonly Edit[]): EditedNotebook {
  const notebook = readNotebook(path, text)
  const refuse = (edit: number, reason: string) =>
    new CausewayError('INVALID_EDIT', `edit ${edit} ${reason}: ${path}`, { data: { path, edit } })
  const sources = new Map<Cell, TextEdit[]>()
  const changes: CellChange[] = []
  for (const [index, edit] of edits.entries()) {
    const address = edit.cell
    if (address === undefined) throw refuse(index + 1, 'of a notebook names no cell')
    if (edit.type === 'insertCell') {
      const before = address === notebook.cells.length ? address : cellAt(path, notebook, address).index
      changes.push({ type: 'insert', before, kind: edit.kind, source: sourceOf(edit.content) })
      continue
    }
    const cell = cellAt(path, notebook, address)
    const isTaken = changes.some((change) => change.type !== 'insert' && change.cell === cell)
    if (isTaken || (sources.has(cell) && (edit.type === 'deleteCell' || edit.type === 'replaceCell'))) {
      throw refuse(index + 1, `changes cell ${address}, which another edit replaces or deletes`)
    }
    if (edit.type === 'deleteCell') changes.push({ type: 'delete', cell })
    else if (edit.type === 'replaceCell')
      changes.push({ type: 'source', cell, source: sourceOf(edit.content) })
    else sources.set(cell, [...(sources.get(cell) ?? []), edit])
  }
  for (const [cell, own] of sources) {
    const source = editedText(cell.source)
    const spans = editSpans(source, own, `${path}, cell ${cell.index}`)
    changes.push({ type: 'source', cell, source: written(source, spans) })
  }
  return finished(path, notebook, changes)
}

/** Replaces the source of one cell by what `change` makes of it. */
export function editCell(
  path: string,
  text: string,
  address: number | string,
  change: (source: string, where: string) => string,
): EditedNotebook {
  const notebook = readNotebook(path, text)
  const cell = cellAt(path, notebook, address)
  const source = change(cell.source, `${path}, cell ${cell.index}`)
  return finished(path, notebook, [{ type: 'source', cell, source }])
}

function finished(path: string, notebook: Notebook, changes: readonly CellChange[]): EditedNotebook {
  const real = changes.filter((change) => change.type !== 'source' || change.source !== change.cell.source)
  const text = real.length === 0 ? notebook.text : writeCells(notebook, real)
  readNotebook(path, text)
  const stale = real.flatMap((change) =>
    change.type === 'source' && change.cell.hasOutput ? [change.cell.index] : [],
  )
  return { text, stale: stale.toSorted((a, b) => a - b) }
}

/** The last line of a cell has no end in files that Jupyter writes. */
const sourceOf = (content: string): string => content.replaceAll('\r\n', '\n').replace(/\n$/, '')
