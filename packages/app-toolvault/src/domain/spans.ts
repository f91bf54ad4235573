/** Spans of time in which two tracks could be closest, kept as rows of numbers: a search makes millions of them. */
import { at } from './earth-vector.ts'

/** A span of time. */
export interface Span {
  /** ms */
  readonly start: number
  readonly end: number
  /** when they are likely to be closest in it, ms */
  readonly likely: number
  /** what their distance is at least, m */
  readonly least_m: number
}

/** Spans that have not been looked at. */
export interface Spans {
  /** The one with the least distance, of several the earliest; undefined where none is left. */
  readonly first: Span | undefined
  /** Takes the first one out. */
  shift(): void
}

/** Numbers of a span in a row: start, end, likely, least_m. */
export const spanWidth = 4

/** Spans of their rows in the order of time: shape [spans, 4], row-major; they are changed as spans are taken out. */
export function spansOf(rows: Float64Array): Spans {
  let row = leastRow(rows)
  let first = spanAt(rows, row)
  return {
    get first() {
      return first
    },
    shift() {
      rows[row + 3] = Number.POSITIVE_INFINITY
      row = leastRow(rows)
      first = spanAt(rows, row)
    },
  }
}

/** Offset of the row with the least distance. */
function leastRow(rows: Float64Array): number {
  let found = 0
  for (let row = spanWidth; row < rows.length; row += spanWidth)
    if (at(rows, row + 3) < at(rows, found + 3)) found = row
  return found
}

function spanAt(rows: Float64Array, row: number): Span | undefined {
  const least_m = rows[row + 3] ?? Number.POSITIVE_INFINITY
  if (least_m === Number.POSITIVE_INFINITY) return undefined
  return { start: at(rows, row), end: at(rows, row + 1), likely: at(rows, row + 2), least_m }
}
