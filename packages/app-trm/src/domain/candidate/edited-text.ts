/** A text that is being edited. Its lines end with LF. Writing the text restores the original line endings. */
import { TrmError } from '../../errors.ts'

/** Replacement of the characters `[start, end)` of `ParsedText.body`. In an insertion, `start` equals `end`. */
export interface Span {
  readonly start: number
  readonly end: number
  /** Lines end with LF. */
  readonly text: string
}

/** A span with the number of its edit or hunk, from 1. */
export interface OwnedSpan extends Span {
  readonly edit: number
}

export interface ParsedText {
  readonly mark: string
  /** The text with LF line endings. The last line also ends with LF. */
  readonly body: string
  /** The line ending of each line: LF or CRLF. */
  readonly ends: readonly string[]
  /** Offset of each line in `body`. */
  readonly starts: readonly number[]
  /** Whether the last line has a line ending. True for an empty text. */
  readonly isEnded: boolean
}

export function parseText(text: string): ParsedText {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const plain = text.slice(mark.length)
  const isEnded = plain === '' || plain.endsWith('\n')
  const ends = plain.match(/\r?\n/g) ?? []
  const body = toLineFeeds(plain) + (isEnded ? '' : '\n')
  const starts: number[] = []
  for (let start = 0; start < body.length; start = body.indexOf('\n', start) + 1) starts.push(start)
  return { mark, body, ends: isEnded ? ends : [...ends, ends.at(-1) ?? '\n'], starts, isEnded }
}

export const toLineFeeds = (text: string): string => text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')

/** A line takes about 200 bytes of memory while a text is read. */
const maxLines = 1_000_000

/** Throws `FILE_TOO_LARGE` for more than a million lines in total. `name` identifies the texts in the message. */
export function checkLineCount(texts: readonly string[], name: string): void {
  let lines = 0
  for (const text of texts) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
      if (++lines <= maxLines) continue
      throw new TrmError('FILE_TOO_LARGE', `more than ${maxLines} lines: ${name}`, {
        data: { max_lines: maxLines },
      })
    }
  }
}

export const toLines = ({ body, starts }: ParsedText): string[] =>
  starts.map((start, index) => body.slice(start, (starts[index + 1] ?? body.length) - 1))

/** Returns the offset of a line (from 0), or the end of the text for the line after the last. */
export const lineStart = ({ body, starts }: ParsedText, line: number): number => starts[line] ?? body.length

/** Lines and offsets count from 0. */
export function lineAt({ starts }: ParsedText, offset: number): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}

/**
 * Replaces spans, which must not overlap. Insertions at the same offset retain their order. New lines get the line
 * endings of the lines that they replace or follow. By default, a missing line ending at the end remains missing.
 */
export function replaceSpans(text: ParsedText, spans: readonly Span[], isEnded = text.isEnded): string {
  const pieces: string[] = []
  let [offset, line] = [0, 0]
  const copy = (to: number) => {
    const lines = text.body.slice(offset, to).split('\n')
    const last = lines.pop() ?? ''
    for (const part of lines) pieces.push(part, text.ends[line++] ?? '\n')
    pieces.push(last)
    offset = to
  }
  for (const { start, end, text: inserted } of sortSpans(spans)) {
    copy(start)
    const ends = text.ends.slice(line, line + text.body.slice(start, end).split('\n').length - 1)
    const next = ends.at(-1) ?? text.ends[line - 1] ?? text.ends[line] ?? '\n'
    let index = 0
    pieces.push(inserted.replaceAll('\n', () => ends[index++] ?? next))
    line += ends.length
    offset = end
  }
  copy(text.body.length)
  const whole = pieces.join('')
  return text.mark + (isEnded ? whole : whole.replace(/\r?\n$/, ''))
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
  spans: readonly OwnedSpan[],
  { name, owner }: { readonly name: string; readonly owner: 'edits' | 'hunks' },
): void {
  let widest: OwnedSpan | undefined
  for (const span of sortSpans(spans)) {
    const isSame = widest?.start === span.start && widest.end === span.end && widest.edit !== span.edit
    if (widest !== undefined && (span.start < widest.end || (isSame && owner === 'hunks'))) {
      const edits = [widest.edit, span.edit].toSorted((a, b) => a - b)
      const line = lineAt(text, span.start) + 1
      const message = `${owner} ${edits.join(' and ')} change the same text at line ${line}: ${name}`
      throw new TrmError('EDIT_OVERLAP', message, { data: { path: name, edits, line } })
    }
    if (widest === undefined || span.end >= widest.end) widest = span
  }
}
