import type { Dense } from './sparse.ts'

/**
 * The columns of a matrix made orthonormal, in place: Gram-Schmidt, each column twice, which is as good as Householder
 * in double precision. A column that depends on those before it becomes zero.
 */
export function orthonormalize(matrix: Dense): Dense {
  const columns = transpose(matrix)
  const { rows: count, columns: length, data } = columns
  for (let j = 0; j < count; j++) {
    const column = data.subarray(j * length, (j + 1) * length)
    const before = norm(column)
    for (const _pass of [1, 2])
      for (let i = 0; i < j; i++) removeComponent(column, data.subarray(i * length, (i + 1) * length))
    const after = norm(column)
    const scale = after > before * 1e-12 ? 1 / after : 0
    for (let k = 0; k < length; k++) column[k] = (column[k] ?? 0) * scale
  }
  const back = transpose(columns)
  matrix.data.set(back.data)
  return matrix
}

/** The transposed matrix, a copy. */
export function transpose({ rows, columns, data }: Dense): Dense {
  const turned = new Float64Array(data.length)
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) turned[j * rows + i] = data[i * columns + j] ?? 0
  return { rows: columns, columns: rows, data: turned }
}

function removeComponent(column: Float64Array, unit: Float64Array): void {
  let dot = 0
  for (let k = 0; k < column.length; k++) dot += (column[k] ?? 0) * (unit[k] ?? 0)
  if (dot === 0) return
  for (let k = 0; k < column.length; k++) column[k] = (column[k] ?? 0) - dot * (unit[k] ?? 0)
}

function norm(column: Float64Array): number {
  let sum = 0
  for (const value of column) sum += value * value
  return Math.sqrt(sum)
}
