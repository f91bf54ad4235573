/** Row i has the entries `start[i]` to `start[i + 1]` (exclusive) of `column` and `value`. */
export interface Sparse {
  readonly rows: number
  readonly columns: number
  readonly start: Uint32Array
  readonly column: Uint32Array
  readonly value: Float64Array
}

export interface Dense {
  readonly rows: number
  readonly columns: number
  readonly data: Float64Array
}

export const createZeros = (rows: number, columns: number): Dense => ({
  rows,
  columns,
  data: new Float64Array(rows * columns),
})

export function createSparse(rows: readonly ReadonlyMap<number, number>[], columns: number): Sparse {
  const entries = rows.reduce((sum, row) => sum + row.size, 0)
  const start = new Uint32Array(rows.length + 1)
  const column = new Uint32Array(entries)
  const value = new Float64Array(entries)
  let entryIndex = 0
  for (const [i, row] of rows.entries()) {
    for (const [j, weight] of row) {
      column[entryIndex] = j
      value[entryIndex] = weight
      entryIndex++
    }
    start[i + 1] = entryIndex
  }
  return { rows: rows.length, columns, start, column, value }
}

/** Returns a · b, shape [a.rows, b.columns]. */
export function multiply(a: Sparse, b: Dense): Dense {
  const product = createZeros(a.rows, b.columns)
  visitEntries(a, (i, j, value) => addScaled(product, i, { from: b, row: j, scale: value }))
  return product
}

/** Returns aᵀ · b, shape [a.columns, b.columns]. */
export function multiplyTransposed(a: Sparse, b: Dense): Dense {
  const product = createZeros(a.columns, b.columns)
  visitEntries(a, (i, j, value) => addScaled(product, j, { from: b, row: i, scale: value }))
  return product
}

function visitEntries(a: Sparse, visit: (row: number, column: number, value: number) => void): void {
  for (let i = 0; i < a.rows; i++) {
    const end = a.start[i + 1] ?? 0
    for (let entryIndex = a.start[i] ?? 0; entryIndex < end; entryIndex++)
      visit(i, a.column[entryIndex] ?? 0, a.value[entryIndex] ?? 0)
  }
}

/** Adds scale * from[sourceRow] to to[row]. */
function addScaled(
  to: Dense,
  row: number,
  { from, row: sourceRow, scale }: { from: Dense; row: number; scale: number },
): void {
  const width = to.columns
  const target = row * width
  const source = sourceRow * width
  for (let k = 0; k < width; k++)
    to.data[target + k] = (to.data[target + k] ?? 0) + scale * (from.data[source + k] ?? 0)
}

/** Makes the columns orthonormal in place (Gram-Schmidt, twice per column). A dependent column becomes zero. */
export function orthonormalize(matrix: Dense): Dense {
  const columns = transpose(matrix)
  const { rows: count, columns: length, data } = columns
  for (let j = 0; j < count; j++) {
    const column = data.subarray(j * length, (j + 1) * length)
    const normBefore = computeNorm(column)
    for (const _pass of [1, 2])
      for (let i = 0; i < j; i++) removeComponent(column, data.subarray(i * length, (i + 1) * length))
    const normAfter = computeNorm(column)
    const scale = normAfter > normBefore * 1e-12 ? 1 / normAfter : 0
    for (let k = 0; k < length; k++) column[k] = (column[k] ?? 0) * scale
  }
  const result = transpose(columns)
  matrix.data.set(result.data)
  return matrix
}

export function transpose({ rows, columns, data }: Dense): Dense {
  const transposed = new Float64Array(data.length)
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) transposed[j * rows + i] = data[i * columns + j] ?? 0
  return { rows: columns, columns: rows, data: transposed }
}

function removeComponent(column: Float64Array, unit: Float64Array): void {
  let dot = 0
  for (let k = 0; k < column.length; k++) dot += (column[k] ?? 0) * (unit[k] ?? 0)
  if (dot === 0) return
  for (let k = 0; k < column.length; k++) column[k] = (column[k] ?? 0) - dot * (unit[k] ?? 0)
}

function computeNorm(column: Float64Array): number {
  let sum = 0
  for (const value of column) sum += value * value
  return Math.sqrt(sum)
}
