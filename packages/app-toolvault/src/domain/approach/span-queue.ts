import { getCoordinate } from '../geodesy/earth-vector.ts'

export interface Span {
  /** Unix milliseconds. */
  readonly start: number
  readonly end: number
  /** Probable time of the closest approach in Unix milliseconds. */
  readonly likelyTime: number
  /** Lower bound of the distance in metres. */
  readonly min_m: number
}

/** Columns: start, end, likelyTime, min_m. */
export const valuesPerSpan = 4

/** Time spans by lower bound, then by time. Stored as rows of numbers, because a search creates millions. */
export class SpanQueue {
  readonly #rows: Float64Array
  #firstRow: number
  #first: Span | undefined

  /** `rows` has shape [spans, 4], row-major, and is ordered by time. The queue modifies it. */
  constructor(rows: Float64Array) {
    this.#rows = rows
    this.#firstRow = findMinRow(rows)
    this.#first = readSpan(rows, this.#firstRow)
  }

  get first(): Span | undefined {
    return this.#first
  }

  removeFirst(): void {
    this.#rows[this.#firstRow + 3] = Number.POSITIVE_INFINITY
    this.#firstRow = findMinRow(this.#rows)
    this.#first = readSpan(this.#rows, this.#firstRow)
  }
}

function findMinRow(rows: Float64Array): number {
  let minRow = 0
  for (let row = valuesPerSpan; row < rows.length; row += valuesPerSpan)
    if (getCoordinate(rows, row + 3) < getCoordinate(rows, minRow + 3)) minRow = row
  return minRow
}

function readSpan(rows: Float64Array, row: number): Span | undefined {
  const min_m = rows[row + 3] ?? Number.POSITIVE_INFINITY
  if (min_m === Number.POSITIVE_INFINITY) return undefined
  return {
    start: getCoordinate(rows, row),
    end: getCoordinate(rows, row + 1),
    likelyTime: getCoordinate(rows, row + 2),
    min_m,
  }
}
