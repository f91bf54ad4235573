/** Parts of a text by lines. A text "a\nb\n" has two. */
import { CausewayError } from '@causeway/protocol'

/** The lines of a text, without their ends. */
export function linesIn(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split(/\r\n|\n|\r/)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/** A part of a text. */
export interface FilePart {
  /** with the line ends of the file */
  readonly content: string
  /** of the whole file */
  readonly lineCount: number
  /** the line to go on with, null at the end */
  readonly nextOffset: number | null
}

/** Whole lines from `offset` (from 1), at most `limit` of them and about `room` characters, but at least one. */
export function filePart(
  text: string,
  { offset, limit, room }: { readonly offset: number; readonly limit: number; readonly room: number },
): FilePart {
  const lines = text.split(/(?<=\n)|(?<=\r)(?!\n)/).filter((line) => line !== '')
  const chosen: string[] = []
  let size = 0
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    if (chosen.length > 0 && size + line.length > room) break
    const kept = line.length > room ? `${line.slice(0, room)}…` : line
    chosen.push(kept)
    size += kept.length
  }
  const next = offset + chosen.length
  return {
    content: chosen.join(''),
    lineCount: lines.length,
    nextOffset: next <= lines.length && chosen.length > 0 ? next : null,
  }
}

/** A checked range, its end moved to the last line; throws `INVALID_LINE`, `INVALID_RANGE`, `LINE_BEYOND_END`. */
export function lineRange(
  count: number,
  start: number,
  end: number,
  file: string,
): { readonly start: number; readonly end: number } {
  const data = { file, start, end, line_count: count }
  if (start < 1 || end < 1)
    throw new CausewayError('INVALID_LINE', `lines are counted from 1: ${Math.min(start, end)}`, { data })
  if (start > end)
    throw new CausewayError('INVALID_RANGE', `the range ends before it begins: ${start} to ${end}`, { data })
  if (start > count)
    throw new CausewayError('LINE_BEYOND_END', `the file has ${count} lines: ${file}`, { data })
  return { start, end: Math.min(end, count) }
}
