/** A row of a table that is appended in key order: its rowid and its key. */
export interface Row {
  readonly id: number
  readonly key: number
}

/** The first row with a rowid of at least `id`, or undefined past the end. Rowids may have gaps. */
export type Probe = (id: number) => Row | undefined

/** Ids of the first and of the last row of a table. */
export interface RowSpan {
  readonly first: number
  readonly last: number
}

/**
 * The smallest rowid from which on every key is at least `key`; `span.last + 1` where there is none.
 * About log2(rows) probes; right only where keys never decrease with the rowid.
 */
export function lowerBound(probe: Probe, span: RowSpan, key: number): number {
  let [low, high] = [span.first, span.last + 1]
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    const row = probe(middle)
    if (row === undefined || row.key >= key) high = middle
    else low = row.id + 1
  }
  return low
}

/** True where `count` probes spread over the table find keys that never decrease with the rowid. */
export function looksMonotone(probe: Probe, span: RowSpan, count: number): boolean {
  let previous = Number.NEGATIVE_INFINITY
  for (let i = 0; i <= count; i++) {
    const row = probe(span.first + Math.floor(((span.last - span.first) * i) / count))
    if (row === undefined || Number.isNaN(row.key) || row.key < previous) return false
    previous = row.key
  }
  return true
}
