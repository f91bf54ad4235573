export interface NearRow {
  readonly row: number
  readonly cosine: number
}

export interface Table {
  /** Unit vectors, shape [count, width], row-major float32. */
  readonly values: Float32Array
  readonly width: number
  readonly count: number
}

/** Returns 0 for a row of zeros. */
export function computeCosineAt({ values, width }: Table, row: number, query: Float32Array): number {
  const start = row * width
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let i = 0
  // Four independent sums let the CPU compute in parallel.
  for (; i + 3 < width; i += 4) {
    a += (values[start + i] as number) * (query[i] as number)
    b += (values[start + i + 1] as number) * (query[i + 1] as number)
    c += (values[start + i + 2] as number) * (query[i + 2] as number)
    d += (values[start + i + 3] as number) * (query[i + 3] as number)
  }
  for (; i < width; i++) a += (values[start + i] as number) * (query[i] as number)
  return a + b + c + d
}

/** Returns the `top` rows with the highest positive cosine, best first. Sorts ties by row. */
export function findNearestRows(table: Table, query: Float32Array, top: number): readonly NearRow[] {
  const best: NearRow[] = []
  let floor = 0
  for (let row = 0; row < table.count; row++) {
    const cosine = computeCosineAt(table, row, query)
    if (cosine <= floor) continue
    let at = best.length
    while (at > 0 && (best[at - 1] as NearRow).cosine < cosine) at--
    best.splice(at, 0, { row, cosine })
    if (best.length > top) best.pop()
    if (best.length === top) floor = (best[top - 1] as NearRow).cosine
  }
  return best
}
