/** A text that is being edited. Writing the text restores the original line endings. */
import { TrmError } from '../../errors.ts'

/** Replacement of the characters `[start, end)` of `ParsedText.body`. In an insertion, `start` equals `end`. */
export interface Span {
  readonly start: number
  readonly end: number
  /** Replacement with LF line endings. */
  readonly text: string
}

/** A span with the number of its edit or hunk, from 1. */
export interface EditSpan extends Span {
  readonly editNumber: number
}

export interface ParsedText {
  readonly bom: string
  /** The text with LF line endings. The last line also ends with LF. */
  readonly body: string
  /** The line ending of each line: LF or CRLF. */
  readonly lineEndings: readonly string[]
  /** Offset of each line in `body`. */
  readonly lineStarts: readonly number[]
  /** Whether the last line has a line ending. True for an empty text. */
  readonly hasFinalNewline: boolean
}

export function parseText(text: string): ParsedText {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : ''
  const content = text.slice(bom.length)
  const hasFinalNewline = content === '' || content.endsWith('\n')
  const ends = content.match(/\r?\n/g) ?? []
  const body = toLineFeeds(content) + (hasFinalNewline ? '' : '\n')
  const lineStarts: number[] = []
  for (let start = 0; start < body.length; start = body.indexOf('\n', start) + 1) lineStarts.push(start)
  return {
    bom,
    body,
    lineEndings: hasFinalNewline ? ends : [...ends, ends.at(-1) ?? '\n'],
    lineStarts,
    hasFinalNewline,
  }
}

export const toLineFeeds = (text: string): string => text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')

/** Limits memory, because a line takes about 200 bytes while a text is being read. */
const maxLines = 1_000_000

/** Throws `FILE_TOO_LARGE` for more than a million lines in total. `name` identifies the texts in the message. */
export function checkLineCount(texts: readonly string[], name: string): void {
  let lines = 0
  for (const text of texts) {
    for (let index = text.indexOf('\n'); index !== -1; index = text.indexOf('\n', index + 1)) {
      if (++lines <= maxLines) continue
      throw new TrmError('FILE_TOO_LARGE', `more than ${maxLines} lines: ${name}`, {
        data: { max_lines: maxLines },
      })
    }
  }
}

export const toLines = ({ body, lineStarts }: ParsedText): string[] =>
  lineStarts.map((start, index) => body.slice(start, (lineStarts[index + 1] ?? body.length) - 1))

/** Returns the offset of a line (from 0), or the end of the text for the line after the last. */
export const getLineStart = ({ body, lineStarts }: ParsedText, line: number): number =>
  lineStarts[line] ?? body.length

/** Returns the line that contains an offset. Both count from 0. */
export function findLine({ lineStarts }: ParsedText, offset: number): number {
  let [low, high] = [0, lineStarts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lineStarts[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}

/**
 * Replaces spans, which must not overlap. Insertions at the same offset retain their order. New lines get the line
 * endings of the lines that they replace or follow. By default, a missing final line ending remains missing.
 */
export function replaceSpans(
  text: ParsedText,
  spans: readonly Span[],
  hasFinalNewline = text.hasFinalNewline,
): string {
  const pieces: string[] = []
  let [offset, lineIndex] = [0, 0]
  const copyUntil = (to: number) => {
    const lines = text.body.slice(offset, to).split('\n')
    const last = lines.pop() ?? ''
    for (const line of lines) pieces.push(line, text.lineEndings[lineIndex++] ?? '\n')
    pieces.push(last)
    offset = to
  }
  for (const { start, end, text: newText } of sortSpans(spans)) {
    copyUntil(start)
    const ends = text.lineEndings.slice(
      lineIndex,
      lineIndex + text.body.slice(start, end).split('\n').length - 1,
    )
    const defaultEnding =
      ends.at(-1) ?? text.lineEndings[lineIndex - 1] ?? text.lineEndings[lineIndex] ?? '\n'
    let index = 0
    pieces.push(newText.replaceAll('\n', () => ends[index++] ?? defaultEnding))
    lineIndex += ends.length
    offset = end
  }
  copyUntil(text.body.length)
  const result = pieces.join('')
  return text.bom + (hasFinalNewline ? result : result.replace(/\r?\n$/, ''))
}

/** Sorts stably by offset. Insertions come before a replacement at the same offset. */
const sortSpans = <S extends Span>(spans: readonly S[]): S[] =>
  spans.toSorted((a, b) => a.start - b.start || a.end - b.end)

/**
 * Throws `EDIT_OVERLAP` if spans overlap or two hunks insert at the same offset. An insertion at the edge of another
 * span does not overlap it. `name` identifies the text in the message.
 */
export function checkOverlap(
  text: ParsedText,
  spans: readonly EditSpan[],
  { name, owner }: { readonly name: string; readonly owner: 'edits' | 'hunks' },
): void {
  let furthest: EditSpan | undefined
  for (const span of sortSpans(spans)) {
    const isSameRange =
      furthest?.start === span.start && furthest.end === span.end && furthest.editNumber !== span.editNumber
    if (furthest !== undefined && (span.start < furthest.end || (isSameRange && owner === 'hunks'))) {
      const edits = [furthest.editNumber, span.editNumber].toSorted((a, b) => a - b)
      const line = findLine(text, span.start) + 1
      const message = `${owner} ${edits.join(' and ')} change the same text at line ${line}: ${name}`
      throw new TrmError('EDIT_OVERLAP', message, { data: { path: name, edits, line } })
    }
    if (furthest === undefined || span.end >= furthest.end) furthest = span
  }
}
