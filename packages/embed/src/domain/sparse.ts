/** A sparse matrix by rows: row i has the entries `start[i]` to `start[i + 1]` of `column` and `value`. */
export interface Sparse {
  readonly rows: number
  readonly columns: number
  readonly start: Uint32Array
  readonly column: Uint32Array
  readonly value: Float64Array
}

/** A dense matrix, row-major float64. */
export interface Dense {
  readonly rows: number
  readonly columns: number
  readonly data: Float64Array
}

/** A dense matrix of zeros. */
export const zeros = (rows: number, columns: number): Dense => ({
  rows,
  columns,
  data: new Float64Array(rows * columns),
})

/** Puts rows of (column, value) into one matrix. */
export function sparse(rows: readonly ReadonlyMap<number, number>[], columns: number): Sparse {
  const entries = rows.reduce((sum, row) => sum + row.size, 0)
  const start = new Uint32Array(rows.length + 1)
  const column = new Uint32Array(entries)
  const value = new Float64Array(entries)
  let at = 0
  for (const [i, row] of rows.entries()) {
    for (const [j, weight] of row) {
      column[at] = j
      value[at] = weight
      at++
    }
    start[i + 1] = at
  }
  return { rows: rows.length, columns, start, column, value }
}

/** a · b, shape [a.rows, b.columns]. */
export function times(a: Sparse, b: Dense): Dense {
  const product = zeros(a.rows, b.columns)
  walk(a, (i, j, value) => addScaled(product, i, { from: b, row: j, scale: value }))
  return product
}

/** aᵀ · b, shape [a.columns, b.columns]. */
export function transposedTimes(a: Sparse, b: Dense): Dense {
  const product = zeros(a.columns, b.columns)
  walk(a, (i, j, value) => addScaled(product, j, { from: b, row: i, scale: value }))
  return product
}

function walk(a: Sparse, visit: (row: number, column: number, value: number) => void): void {
  for (let i = 0; i < a.rows; i++) {
    const end = a.start[i + 1] ?? 0
    for (let at = a.start[i] ?? 0; at < end; at++) visit(i, a.column[at] ?? 0, a.value[at] ?? 0)
  }
}

/** to[row] += scale * from[row'] */
function addScaled(
  to: Dense,
  row: number,
  { from, row: other, scale }: { from: Dense; row: number; scale: number },
): void {
  const width = to.columns
  const target = row * width
  const source = other * width
  for (let k = 0; k < width; k++)
    to.data[target + k] = (to.data[target + k] ?? 0) + scale * (from.data[source + k] ?? 0)
}
