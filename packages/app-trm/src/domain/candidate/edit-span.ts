import type { CausewayError } from '@causeway/protocol'
import { TrmError, type TrmErrorCode } from '../../errors.ts'
import { findClosestRegion } from './closest-region.ts'
import {
  checkOverlap,
  type EditSpan,
  findLine,
  getLineStart,
  type ParsedText,
  type Span,
  toLineFeeds,
  toLines,
} from './edited-text.ts'
import type { Edit } from './types.ts'

export type TextEdit = Exclude<Edit, { type: 'insertCell' | 'replaceCell' | 'deleteCell' }>

/** Converts edits to spans of the original text. `name` identifies the text in error messages. */
export function placeEdits(text: ParsedText, edits: readonly TextEdit[], name: string): readonly Span[] {
  const spans = edits.flatMap((edit, index) =>
    placeEdit(text, edit, createReject(name, index + 1)).map(
      (span): EditSpan => ({ ...span, editNumber: index + 1 }),
    ),
  )
  checkOverlap(text, spans, { name, owner: 'edits' })
  return spans
}

type Reject = (
  code: TrmErrorCode,
  reason: string,
  data?: Readonly<Record<string, unknown>> & { readonly remedy?: string },
) => CausewayError

const createReject =
  (name: string, edit: number): Reject =>
  (code, reason, { remedy, ...data } = {}) =>
    new TrmError(code, `edit ${edit} ${reason}: ${name}`, {
      data: { path: name, edit, ...data },
      ...(remedy === undefined ? {} : { remedy }),
    })

function placeEdit(text: ParsedText, edit: TextEdit, reject: Reject): readonly Span[] {
  const lineCount = text.lineStarts.length
  const insert = (line: number, content: string): Span[] => {
    const offset = getLineStart(text, line)
    return [{ start: offset, end: offset, text: toWholeLines(content) }]
  }
  switch (edit.type) {
    case 'replace':
      return placeReplacement(text, edit, reject)
    case 'insertBefore':
      checkLine(edit.line, { min: 1, max: lineCount + 1, count: lineCount }, reject)
      return insert(edit.line - 1, edit.content)
    case 'insertAfter':
      checkLine(edit.line, { min: 0, max: lineCount, count: lineCount }, reject)
      return insert(edit.line, edit.content)
    case 'replaceLine':
      return [placeLines(text, [edit.line, edit.line], edit.content, reject)]
    case 'replaceRange':
      return [placeLines(text, [edit.startLine, edit.endLine], edit.content, reject)]
    case 'deleteLine':
      return [placeLines(text, [edit.line, edit.line], undefined, reject)]
    case 'deleteRange':
      return [placeLines(text, [edit.startLine, edit.endLine], undefined, reject)]
  }
}

/** Converts line endings to LF and ensures that the text ends with LF. */
const toWholeLines = (content: string): string => `${toLineFeeds(content).replace(/\n$/, '')}\n`

function placeLines(
  text: ParsedText,
  [first, last]: readonly [first: number, last: number],
  content: string | undefined,
  reject: Reject,
): Span {
  const lineCount = text.lineStarts.length
  for (const line of [first, last]) checkLine(line, { min: 1, max: lineCount, count: lineCount }, reject)
  if (first > last)
    throw reject('INVALID_LINE', `ends before it starts, line ${first} to ${last}`, { line_count: lineCount })
  return {
    start: getLineStart(text, first - 1),
    end: getLineStart(text, last),
    text: content === undefined ? '' : toWholeLines(content),
  }
}

interface LineBounds {
  readonly min: number
  readonly max: number
  readonly count: number
}

function checkLine(line: number, { min, max, count }: LineBounds, reject: Reject): void {
  if (Number.isInteger(line) && line >= min && line <= max) return
  throw reject('INVALID_LINE', `names line ${line} of ${count}`, { line, line_count: count })
}

function placeReplacement(
  text: ParsedText,
  edit: Extract<Edit, { type: 'replace' }>,
  reject: Reject,
): Span[] {
  const [oldText, newText] = [toLineFeeds(edit.oldText), toLineFeeds(edit.newText)]
  if (oldText === '') throw reject('INVALID_EDIT', 'replaces an empty text')
  if (oldText === newText) throw reject('INVALID_EDIT', 'replaces a text by itself')
  const starts: number[] = []
  const { body } = text
  for (let start = body.indexOf(oldText); start !== -1; start = body.indexOf(oldText, start + oldText.length))
    starts.push(start)
  if (starts.length === 0) throw createNotFoundError(text, oldText, reject)
  const toSpan = (start: number): Span => ({ start, end: start + oldText.length, text: newText })
  if (edit.all === true) return starts.map(toSpan)
  const data = { lines: starts.slice(0, 50).map((start) => findLine(text, start) + 1), count: starts.length }
  if (edit.occurrence !== undefined) {
    const start = starts[edit.occurrence - 1]
    if (start !== undefined) return [toSpan(start)]
    throw reject('REPLACE_NOT_FOUND', `asks for occurrence ${edit.occurrence} of ${starts.length}`, data)
  }
  if (starts.length === 1) return starts.map(toSpan)
  throw reject(
    'REPLACE_AMBIGUOUS',
    `replaces a text that occurs at lines ${data.lines.slice(0, 8).join(', ')}`,
    data,
  )
}

function createNotFoundError(text: ParsedText, oldText: string, reject: Reject): CausewayError {
  const closest = findClosestRegion(toLines(text), oldText.replace(/\n$/, '').split('\n'))
  if (closest === undefined)
    return reject('REPLACE_NOT_FOUND', 'replaces a text that is not in the file', {
      remedy: 'no line resembles it: call trm.read for the file',
    })
  const differsOnlyInSpace = removeWhitespace(closest.text).includes(removeWhitespace(oldText))
  const reason = differsOnlyInSpace
    ? 'differs from the file only in white space'
    : 'replaces a text that is not in the file'
  return reject('REPLACE_NOT_FOUND', reason, { closest })
}

const removeWhitespace = (text: string): string => text.replace(/\s+/g, '')
