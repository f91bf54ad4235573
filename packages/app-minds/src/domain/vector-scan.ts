export interface NearestRow {
  readonly row: number
  readonly cosine: number
}

export interface VectorTable {
  /** Unit vectors, shape [count, width], row-major float32. */
  readonly values: Float32Array
  readonly width: number
  readonly count: number
}

/** `query` must be a unit vector. Returns 0 for a row of zeros. */
export function computeCosineAt({ values, width }: VectorTable, row: number, query: Float32Array): number {
  const start = row * width
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let i = 0
  // Four independent sums allow instruction-level parallelism.
  for (; i + 3 < width; i += 4) {
    a += (values[start + i] as number) * (query[i] as number)
    b += (values[start + i + 1] as number) * (query[i + 1] as number)
    c += (values[start + i + 2] as number) * (query[i + 2] as number)
    d += (values[start + i + 3] as number) * (query[i + 3] as number)
  }
  for (; i < width; i++) a += (values[start + i] as number) * (query[i] as number)
  return a + b + c + d
}

/** Returns at most `maxMatches` rows with the highest positive cosines, best first. Sorts ties by row. */
export function findNearestRows(
  table: VectorTable,
  query: Float32Array,
  maxMatches: number,
): readonly NearestRow[] {
  const nearestRows: NearestRow[] = []
  let minCosine = 0
  for (let row = 0; row < table.count; row++) {
    const cosine = computeCosineAt(table, row, query)
    if (cosine <= minCosine) continue
    let insertIndex = nearestRows.length
    while (insertIndex > 0 && (nearestRows[insertIndex - 1] as NearestRow).cosine < cosine) insertIndex--
    nearestRows.splice(insertIndex, 0, { row, cosine })
    if (nearestRows.length > maxMatches) nearestRows.pop()
    if (nearestRows.length === maxMatches) minCosine = (nearestRows[maxMatches - 1] as NearestRow).cosine
  }
  return nearestRows
}
