import { TrmError } from '../errors.ts'

/** Splits a text into lines without their line endings. `a\nb\n` has two lines. */
export function splitLines(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split(/\r\n|\n|\r/)
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

/**
 * Returns up to `limit` lines of about `maxLength` characters in total. Cuts off a longer first line. `offset` counts
 * from 1. `nextOffset` is `null` at the end.
 */
export function readPart(
  text: string,
  {
    offset,
    limit,
    maxLength,
  }: { readonly offset: number; readonly limit: number; readonly maxLength: number },
) {
  const lines = text.split(/(?<=\n)|(?<=\r)(?!\n)/).filter((line) => line !== '')
  const selectedLines: string[] = []
  let length = 0
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    if (selectedLines.length > 0 && length + line.length > maxLength) break
    const shortLine = line.length > maxLength ? `${line.slice(0, maxLength)}…` : line
    selectedLines.push(shortLine)
    length += shortLine.length
  }
  const next = offset + selectedLines.length
  return {
    content: selectedLines.join(''),
    lineCount: lines.length,
    nextOffset: next <= lines.length && selectedLines.length > 0 ? next : null,
  }
}

/** Checks a range and clamps its end. Throws `INVALID_LINE`, `INVALID_RANGE`, `LINE_BEYOND_END`. */
export function checkRange(
  count: number,
  { start, end }: { readonly start: number; readonly end: number },
  file: string,
): { readonly start: number; readonly end: number } {
  const data = { file, start, end, line_count: count }
  if (start < 1 || end < 1)
    throw new TrmError('INVALID_LINE', `lines count from 1: ${Math.min(start, end)}`, { data })
  if (start > end)
    throw new TrmError('INVALID_RANGE', `the range ends before it starts: ${start} to ${end}`, { data })
  if (start > count) throw new TrmError('LINE_BEYOND_END', `the file has ${count} lines: ${file}`, { data })
  return { start, end: Math.min(end, count) }
}
