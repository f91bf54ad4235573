import ndarray from 'ndarray'
import { orthonormalize, transpose } from './orthonormal.ts'
import { randomBits } from './random.ts'
import { type Dense, type Sparse, times, transposedTimes, zeros } from './sparse.ts'
import { symmetricEigen } from './symmetric-eigen.ts'

/** How far a decomposition goes. */
export interface SvdOptions {
  /** Singular vectors wanted. */
  readonly rank: number
  readonly seed: number
  /** Passes that sharpen the subspace; 3 leave the leading vectors exact to about four digits. */
  readonly powerIterations?: number
  /** Random directions beyond the rank. */
  readonly oversampling?: number
}

/** Leading right singular vectors of a matrix as columns, shape [columns, rank], and the singular values. */
export interface Svd {
  readonly right: Dense
  readonly values: Float64Array
}

/**
 * The leading right singular vectors of a sparse matrix by randomised subspace iteration (Halko, Martinsson and Tropp,
 * 2011, algorithms 4.4 and 5.1). The same matrix and seed give the same vectors, signs included.
 *
 * Yields between its passes how many of how many are done, so that a caller can report, pause or stop.
 */
export function* truncatedSvd(matrix: Sparse, options: SvdOptions): Generator<[number, number], Svd> {
  const { seed, powerIterations = 3, oversampling = 10 } = options
  const width = Math.min(options.rank + oversampling, matrix.rows, matrix.columns)
  const rank = Math.min(options.rank, width)
  const steps = powerIterations + 2

  let basis = orthonormalize(times(matrix, signs(matrix.columns, width, seed)))
  for (let pass = 1; pass <= powerIterations; pass++) {
    yield [pass, steps]
    basis = orthonormalize(times(matrix, orthonormalize(transposedTimes(matrix, basis))))
  }
  yield [steps - 1, steps]
  // Bᵀ = Aᵀ Q, so that B Bᵀ is small and its eigenvectors turn Bᵀ into the singular vectors.
  const small = transposedTimes(matrix, basis)
  const { values, vectors } = symmetricEigen(gram(small))
  const right = zeros(matrix.columns, rank)
  const singular = new Float64Array(rank)
  for (let k = 0; k < rank; k++) {
    const value = Math.sqrt(Math.max(values[k] ?? 0, 0))
    singular[k] = value
    if (value < 1e-12) continue
    for (let i = 0; i < matrix.columns; i++) {
      let sum = 0
      for (let j = 0; j < width; j++) sum += (small.data[i * width + j] ?? 0) * vectors.get(j, k)
      right.data[i * rank + k] = sum / value
    }
  }
  return { right: positive(right), values: singular }
}

/** Random signs, shape [rows, columns]: as good as Gaussian numbers here, and the same on every machine. */
function signs(rows: number, columns: number, seed: number): Dense {
  const bits = randomBits(seed)
  const matrix = zeros(rows, columns)
  for (let i = 0; i < matrix.data.length; i++) matrix.data[i] = bits() & 1 ? 1 : -1
  return matrix
}

/** mᵀ · m, shape [columns, columns]. */
function gram(matrix: Dense) {
  const n = matrix.columns
  const { data, columns: length } = transpose(matrix)
  const product = ndarray(new Float64Array(n * n), [n, n])
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++) {
      let sum = 0
      for (let k = 0; k < length; k++) sum += (data[i * length + k] ?? 0) * (data[j * length + k] ?? 0)
      product.set(i, j, sum)
      product.set(j, i, sum)
    }
  }
  return product
}

/** Turns each column so that its greatest entry is positive: the sign of a singular vector is free. */
function positive(matrix: Dense): Dense {
  const { rows, columns, data } = matrix
  for (let k = 0; k < columns; k++) {
    let greatest = 0
    for (let i = 0; i < rows; i++) {
      const value = data[i * columns + k] ?? 0
      if (Math.abs(value) > Math.abs(greatest)) greatest = value
    }
    if (greatest < 0) for (let i = 0; i < rows; i++) data[i * columns + k] = -(data[i * columns + k] ?? 0)
  }
  return matrix
}
