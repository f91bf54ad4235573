/** A text under edit: lines end in LF here, and every line gets its own line end back when the text is written out. */
import { CausewayError } from '@causeway/protocol'

/** A replacement in `EditedText.body`: characters `start` to `end`, not included. An insertion has both equal. */
export interface Span {
  readonly start: number
  readonly end: number
  /** Lines end in LF. */
  readonly text: string
}

/** A text taken apart. */
export interface EditedText {
  /** The byte order mark, or nothing. */
  readonly mark: string
  /** The text with LF only; a last line without an end gets one, so that all lines are alike. */
  readonly body: string
  /** The line end of each line, in order: LF or CRLF. */
  readonly ends: readonly string[]
  /** Offset in `body` of each line. */
  readonly starts: readonly number[]
  /** True where the last line has an end of its own; true for an empty text. */
  readonly isEnded: boolean
}

/** Takes a text apart. */
export function editedText(text: string): EditedText {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const plain = text.slice(mark.length)
  const isEnded = plain === '' || plain.endsWith('\n')
  const ends = plain.match(/\r?\n/g) ?? []
  const body = lineFeeds(plain) + (isEnded ? '' : '\n')
  return {
    mark,
    body,
    ends: isEnded ? ends : [...ends, ends.at(-1) ?? '\n'],
    starts: lineStarts(body),
    isEnded,
  }
}

/** The text with LF line ends and without a byte order mark: how clients' texts are compared. */
export const lineFeeds = (text: string): string => text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')

/** Most lines of a text, a diff or a review: each line costs about 200 bytes while it is read. */
const maxLines = 1_000_000

/** Throws `FILE_TOO_LARGE` if texts have more than a million line ends together; `name` names them in the message. */
export function checkLineCount(texts: readonly string[], name: string): void {
  let lines = 0
  for (const text of texts) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
      if (++lines <= maxLines) continue
      throw new CausewayError('FILE_TOO_LARGE', `more than ${maxLines} lines: ${name}`, {
        data: { max_lines: maxLines },
      })
    }
  }
}

/** The lines, without their ends. */
export const linesOf = ({ body, starts }: EditedText): string[] =>
  starts.map((start, index) => body.slice(start, (starts[index + 1] ?? body.length) - 1))

/** Offset where a line starts, from 0; the end of the text for the line after the last. */
export const startOf = ({ body, starts }: EditedText, line: number): number => starts[line] ?? body.length

/** The line, from 0, in which an offset lies. */
export function lineAt({ starts }: EditedText, offset: number): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}

/**
 * Writes the text out with the spans replaced, which neither overlap nor need be in order; insertions at one place
 * keep the order given. Untouched lines keep their line ends, new ones take those that they replace or follow. Whether
 * the last line has an end stays as it was unless `ended` says otherwise.
 */
export function written(text: EditedText, spans: readonly Span[], ended = text.isEnded): string {
  const pieces: string[] = []
  let [offset, line] = [0, 0]
  const copy = (to: number) => {
    const kept = text.body.slice(offset, to).split('\n')
    const last = kept.pop() ?? ''
    for (const part of kept) pieces.push(part, text.ends[line++] ?? '\n')
    pieces.push(last)
    offset = to
  }
  for (const { start, end, text: inserted } of inOrder(spans)) {
    copy(start)
    const ends = text.ends.slice(line, line + count(text.body.slice(start, end)))
    const next = ends.at(-1) ?? text.ends[line - 1] ?? text.ends[line] ?? '\n'
    pieces.push(withEnds(inserted, ends, next))
    line += ends.length
    offset = end
  }
  copy(text.body.length)
  const whole = pieces.join('')
  return text.mark + (ended ? whole : whole.replace(/\r?\n$/, ''))
}

/** Stable by place: what is inserted at an offset stands before what is replaced from there on. */
export const inOrder = <S extends Span>(spans: readonly S[]): S[] =>
  spans.toSorted((a, b) => a.start - b.start || a.end - b.end)

function withEnds(text: string, ends: readonly string[], next: string): string {
  let index = 0
  return text.replaceAll('\n', () => ends[index++] ?? next)
}

const count = (text: string): number => text.split('\n').length - 1

function lineStarts(body: string): number[] {
  const starts: number[] = []
  for (let start = 0; start < body.length; start = body.indexOf('\n', start) + 1) starts.push(start)
  return starts
}
