export interface Row {
  readonly id: number
  readonly key: number
}

export type Probe = (id: number) => Row | undefined

export interface RowSpan {
  readonly first: number
  readonly last: number
}

/** Returns the smallest rowid whose key is at least `key`, or `span.last + 1`. Keys must never decrease. */
export function findLowerBound(probe: Probe, span: RowSpan, key: number): number {
  let [low, high] = [span.first, span.last + 1]
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    const row = probe(middle)
    if (row === undefined || row.key >= key) high = middle
    else low = row.id + 1
  }
  return low
}

/** Whether the keys of `count + 1` probes across the table never decrease. */
export function isMonotonic(probe: Probe, span: RowSpan, count: number): boolean {
  let previous = Number.NEGATIVE_INFINITY
  for (let i = 0; i <= count; i++) {
    const row = probe(span.first + Math.floor(((span.last - span.first) * i) / count))
    if (row === undefined || Number.isNaN(row.key) || row.key < previous) return false
    previous = row.key
  }
  return true
}
