import type { Columns } from '@causeway/recording'
import type { NdArray } from 'ndarray'
import { createCursor, parseCursor } from '../cursor.ts'
import { formatCount, formatQuantity } from '../sentence.ts'
import { selectMinMaxRows } from './buckets.ts'
import { getColumn, listRows } from './columns.ts'
import { computeTotals, type Totals } from './totals.ts'

interface SeriesPart {
  /** Ascending rows. */
  readonly rows: readonly number[]
  /** First and last frame of the whole series. */
  readonly start_frame: number | null
  readonly end_frame: number | null
  readonly bucketed: boolean
  readonly truncated: boolean
  /** Cursor for reading all rows in order; `null` after the last row. */
  readonly next_cursor: string | null
  readonly totals: Totals
}

/** Returns all rows of a short series, or extremes of `key` in buckets. With a cursor, returns the next rows. */
export function selectSeriesPart<Field extends string>(
  columns: Columns<Field | 'frame_id'>,
  key: Field,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): SeriesPart {
  const frames = getColumn(columns, 'frame_id')
  const values = getColumn(columns, key)
  const isBucketed = cursor === undefined && columns.length > limit
  const from = cursor === undefined ? 0 : parseCursor(cursor)
  const first = findFirstRow(frames, from)
  const end = Math.min(first + limit, columns.length)
  const rows = isBucketed ? selectMinMaxRows(values, limit) : listRows(first, end)
  const next = isBucketed ? 0 : end
  return {
    rows,
    start_frame: columns.length === 0 ? null : frames.get(0),
    end_frame: columns.length === 0 ? null : frames.get(columns.length - 1),
    bucketed: isBucketed,
    truncated: rows.length < columns.length,
    next_cursor: next === columns.length ? null : createCursor(frames.get(next)),
    totals: computeTotals(values, frames),
  }
}

function findFirstRow(frames: NdArray<Float64Array>, from: number): number {
  let [low, high] = [0, frames.shape[0] ?? 0]
  while (low < high) {
    const middle = (low + high) >> 1
    if (frames.get(middle) < from) low = middle + 1
    else high = middle
  }
  return low
}

export function describePart({ bucketed, truncated, totals }: Omit<SeriesPart, 'rows'>): string {
  if (!truncated) return ''
  const extent = bucketed ? `minimum and maximum of each bucket out of ${totals.count}` : `of ${totals.count}`
  return ` (${extent}; next_cursor leads to every row)`
}

export function summarizeSeries(
  noun: string,
  subject: string,
  shownCount: number,
  series: Omit<SeriesPart, 'rows'>,
): string {
  const rows = `${formatCount(shownCount, noun)}${subject === '' ? '' : ` ${subject}`}`
  const { totals, start_frame, end_frame } = series
  if (totals.count === 0) return `${rows}: the recording has no frames.`
  const { min, max, min_frame, max_frame, drift, nonfinite } = totals
  const nonfiniteText = nonfinite === 0 ? '' : ` ${formatCount(nonfinite, 'frame')} without a finite value.`
  return `${rows}${describePart(series)}, frames ${start_frame} to ${end_frame}: minimum ${formatQuantity(min, 'J')} in frame ${min_frame}, maximum ${formatQuantity(max, 'J')} in frame ${max_frame}, drift ${formatQuantity(drift, 'J')}.${nonfiniteText}`
}
