/** The shown part of a series: all of it, its peaks, or one page of it. */
import type { Columns } from '@causeway/recording'
import type { NdArray } from 'ndarray'
import { minMaxRows } from './buckets.ts'
import { column, rowsFrom } from './columns.ts'
import { cursorAt, positionOf } from './cursor.ts'
import { count, quantity } from './sentence.ts'
import { type Totals, totals } from './totals.ts'

/** What is shown, and exact figures of what is not. */
export interface SeriesPart {
  /** indexes of the shown rows, ascending */
  readonly rows: readonly number[]
  /** frames that the series covers; null where it is empty */
  readonly start_frame: number | null
  readonly end_frame: number | null
  /** true where the shown rows are the least and greatest of buckets */
  readonly bucketed: boolean
  /** true where rows are missing from what is shown */
  readonly truncated: boolean
  /** leads to the rows one by one; null where none are left */
  readonly next_cursor: string | null
  readonly totals: Totals
}

/**
 * Without a cursor the whole series in at most `limit` rows, bucketed by `key` where it is longer; with a cursor the
 * next `limit` rows one by one. Throws `INVALID_CURSOR`.
 */
export function seriesPart<Field extends string>(
  columns: Columns<Field | 'frame_id'>,
  key: Field,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): SeriesPart {
  const frames = column(columns, 'frame_id')
  const values = column(columns, key)
  const isBucketed = cursor === undefined && columns.length > limit
  const from = cursor === undefined ? 0 : positionOf(cursor)
  const first = firstRow(frames, from)
  const end = Math.min(first + limit, columns.length)
  const rows = isBucketed ? minMaxRows(values, limit) : rowsFrom(first, end)
  const next = isBucketed ? 0 : end
  return {
    rows,
    start_frame: columns.length === 0 ? null : frames.get(0),
    end_frame: columns.length === 0 ? null : frames.get(columns.length - 1),
    bucketed: isBucketed,
    truncated: rows.length < columns.length,
    next_cursor: next === columns.length ? null : cursorAt(frames.get(next)),
    totals: totals(values, frames),
  }
}

/** The first row whose frame is `from` or a later one; the number of rows where there is none. Frames ascend. */
function firstRow(frames: NdArray<Float64Array>, from: number): number {
  let [low, high] = [0, frames.shape[0] ?? 0]
  while (low < high) {
    const middle = (low + high) >> 1
    if (frames.get(middle) < from) low = middle + 1
    else high = middle
  }
  return low
}

/** Which rows of a longer series are listed, and where the others are; empty where all are. */
export function partNote({ bucketed, truncated, totals }: Omit<SeriesPart, 'rows'>): string {
  if (!truncated) return ''
  const way = bucketed ? `the least and greatest of each bucket out of ${totals.count}` : `of ${totals.count}`
  return ` (${way}; next_cursor leads through all)`
}

/** A part of a series in words: how many rows, and what the whole of it does. */
export function seriesSummary(rows: string, shown: number, series: Omit<SeriesPart, 'rows'>): string {
  const { totals, start_frame, end_frame } = series
  if (totals.count === 0) return `Retrieved 0 ${rows}: the recording has no frames.`
  const { min, max, min_frame, max_frame, drift, nonfinite } = totals
  const broken = nonfinite === 0 ? '' : ` ${count(nonfinite, 'frame')} without a finite value.`
  return `Retrieved ${shown} ${rows}${partNote(series)}, frames ${start_frame} to ${end_frame}: least ${quantity(min, 'J')} in frame ${min_frame}, greatest ${quantity(max, 'J')} in frame ${max_frame}, drift ${quantity(drift, 'J')}.${broken}`
}
