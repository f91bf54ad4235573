import { CausewayError, type ErrorCode } from '@causeway/protocol'
import { closestRegion } from './closest.ts'
import { type EditedText, inOrder, lineAt, lineFeeds, linesOf, type Span, startOf } from './edited-text.ts'
import type { Edit } from './types.ts'

/** An edit of a text, as opposed to one of a notebook's cells. */
export type TextEdit = Exclude<Edit, { type: 'insertCell' | 'replaceCell' | 'deleteCell' }>

/** A span and the number of the edit that asked for it, from 1. */
interface OwnedSpan extends Span {
  readonly edit: number
}

/**
 * The spans of a list of edits, all placed in the text as it was before the first of them. Throws `REPLACE_NOT_FOUND`,
 * `REPLACE_AMBIGUOUS`, `INVALID_EDIT`, `INVALID_LINE`, and `EDIT_OVERLAP` naming both edits. `where` names the text in
 * messages, as in `src/a.py`.
 */
export function editSpans(text: EditedText, edits: readonly TextEdit[], where: string): readonly Span[] {
  const spans = edits.flatMap((edit, index) =>
    spansOf(text, edit, refusing(where, index + 1)).map((span): OwnedSpan => ({ ...span, edit: index + 1 })),
  )
  refuseOverlap(text, spans, where)
  return spans
}

/** Makes the error that refuses an edit. */
type Refuse = (
  code: ErrorCode,
  reason: string,
  data?: Readonly<Record<string, unknown>> & { readonly remedy?: string },
) => CausewayError

const refusing =
  (where: string, edit: number): Refuse =>
  (code, reason, { remedy, ...data } = {}) =>
    new CausewayError(code, `edit ${edit} ${reason}: ${where}`, {
      data: { path: where, edit, ...data },
      ...(remedy === undefined ? {} : { remedy }),
    })

function spansOf(text: EditedText, edit: TextEdit, refuse: Refuse): readonly Span[] {
  const count = text.starts.length
  switch (edit.type) {
    case 'replace':
      return replaced(text, edit, refuse)
    case 'insertBefore': {
      const line = inside(edit.line, 1, count + 1, count, refuse)
      return [insertion(startOf(text, line - 1), edit.content)]
    }
    case 'insertAfter': {
      const line = inside(edit.line, 0, count, count, refuse)
      return [insertion(startOf(text, line), edit.content)]
    }
    case 'replaceLine':
      return [lineSpan(text, { first: edit.line, last: edit.line, content: edit.content }, refuse)]
    case 'replaceRange':
      return [lineSpan(text, { first: edit.startLine, last: edit.endLine, content: edit.content }, refuse)]
    case 'deleteLine':
      return [lineSpan(text, { first: edit.line, last: edit.line }, refuse)]
    case 'deleteRange':
      return [lineSpan(text, { first: edit.startLine, last: edit.endLine }, refuse)]
  }
}

/** Whole lines: one line end at the end of what a client sends is taken for that of the last line. */
const asLines = (content: string): string => `${lineFeeds(content).replace(/\n$/, '')}\n`

const insertion = (at: number, content: string): Span => ({ start: at, end: at, text: asLines(content) })

function lineSpan(
  text: EditedText,
  { first, last, content }: { first: number; last: number; content?: string },
  refuse: Refuse,
): Span {
  const count = text.starts.length
  inside(first, 1, count, count, refuse)
  inside(last, 1, count, count, refuse)
  if (first > last) {
    throw refuse('INVALID_LINE', `ends before it starts, line ${first} to ${last}`, { line_count: count })
  }
  return {
    start: startOf(text, first - 1),
    end: startOf(text, last),
    text: content === undefined ? '' : asLines(content),
  }
}

function inside(line: number, least: number, most: number, count: number, refuse: Refuse): number {
  if (Number.isInteger(line) && line >= least && line <= most) return line
  throw refuse('INVALID_LINE', `names line ${line} of ${count}`, { line, line_count: count })
}

function replaced(text: EditedText, edit: Extract<Edit, { type: 'replace' }>, refuse: Refuse): Span[] {
  const [wanted, instead] = [lineFeeds(edit.oldText), lineFeeds(edit.newText)]
  if (wanted === '') throw refuse('INVALID_EDIT', 'replaces an empty text')
  if (wanted === instead) throw refuse('INVALID_EDIT', 'replaces a text by itself')
  const found = occurrences(text.body, wanted)
  if (found.length === 0) throw notFound(text, wanted, refuse)
  const span = (start: number): Span => ({ start, end: start + wanted.length, text: instead })
  if (edit.all === true) return found.map(span)
  const lines = found.slice(0, 50).map((start) => lineAt(text, start) + 1)
  if (edit.occurrence !== undefined) {
    const start = found[edit.occurrence - 1]
    if (start !== undefined) return [span(start)]
    const reason = `asks for occurrence ${edit.occurrence} of ${found.length}`
    throw refuse('REPLACE_NOT_FOUND', reason, { lines, count: found.length })
  }
  if (found.length > 1) {
    const reason = `replaces a text that stands at lines ${lines.slice(0, 8).join(', ')}`
    throw refuse('REPLACE_AMBIGUOUS', reason, { lines, count: found.length })
  }
  return found.map(span)
}

/** Starts of all matches, overlapping ones left out. */
function occurrences(body: string, wanted: string): number[] {
  const found: number[] = []
  for (let at = body.indexOf(wanted); at !== -1; at = body.indexOf(wanted, at + wanted.length)) found.push(at)
  return found
}

function notFound(text: EditedText, wanted: string, refuse: Refuse): CausewayError {
  const closest = closestRegion(linesOf(text), wanted.replace(/\n$/, '').split('\n'))
  const isIndented = closest !== undefined && squeezed(closest.text).includes(squeezed(wanted))
  const reason = isIndented ? 'differs from the file in blanks alone' : 'replaces a text that is not there'
  if (closest === undefined)
    return refuse('REPLACE_NOT_FOUND', reason, { remedy: 'no line resembles it: call trm.read for the file' })
  return refuse('REPLACE_NOT_FOUND', reason, { closest })
}

const squeezed = (text: string): string => text.replace(/\s+/g, '')

function refuseOverlap(text: EditedText, spans: readonly OwnedSpan[], where: string): void {
  let widest: OwnedSpan | undefined
  for (const span of inOrder(spans)) {
    // An insertion may stand at either border of another edit, and replacements may touch.
    if (widest !== undefined && span.start < widest.end) {
      const edits = [widest.edit, span.edit].toSorted((a, b) => a - b)
      const line = lineAt(text, span.start) + 1
      const message = `edits ${edits[0]} and ${edits[1]} touch the same text at line ${line}: ${where}`
      throw new CausewayError('EDIT_OVERLAP', message, { data: { path: where, edits, line } })
    }
    if (widest === undefined || span.end >= widest.end) widest = span
  }
}
