import ndarray from 'ndarray'
import {
  createZeros,
  type Dense,
  multiply,
  multiplyTransposed,
  orthonormalize,
  type Sparse,
  transpose,
} from './matrix.ts'
import { computeSymmetricEigen } from './symmetric-eigen.ts'

/** Generates 32-bit numbers, the same for a seed on every machine (mulberry32, public domain). */
export function createRandomBits(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return (bits ^ (bits >>> 14)) >>> 0
  }
}

export interface SvdOptions {
  readonly rank: number
  readonly seed: number
  /** Three iterations give about four exact digits of the leading vectors. */
  readonly powerIterations?: number
  readonly oversampling?: number
}

/** Right singular vectors as columns, shape [columns, rank]. */
interface Svd {
  readonly rightVectors: Dense
  readonly values: Float64Array
}

/**
 * Computes the leading right singular vectors by randomised subspace iteration (Halko, Martinsson and Tropp, 2011,
 * algorithms 4.4 and 5.1). Deterministic for a seed, including signs. Yields the numbers of finished and of all passes.
 */
export function* computeTruncatedSvd(matrix: Sparse, options: SvdOptions): Generator<[number, number], Svd> {
  const { seed, powerIterations = 3, oversampling = 10 } = options
  const width = Math.min(options.rank + oversampling, matrix.rows, matrix.columns)
  const rank = Math.min(options.rank, width)
  const stepCount = powerIterations + 2

  let basis = orthonormalize(multiply(matrix, createSigns(matrix.columns, width, seed)))
  for (let pass = 1; pass <= powerIterations; pass++) {
    yield [pass, stepCount]
    basis = orthonormalize(multiply(matrix, orthonormalize(multiplyTransposed(matrix, basis))))
  }
  yield [stepCount - 1, stepCount]
  // Bᵀ = Aᵀ Q. B Bᵀ is small, and Bᵀ times its eigenvectors gives the singular vectors.
  const projected = multiplyTransposed(matrix, basis)
  const { values, vectors } = computeSymmetricEigen(computeGram(projected))
  const right = createZeros(matrix.columns, rank)
  const singularValues = new Float64Array(rank)
  for (let k = 0; k < rank; k++) {
    const value = Math.sqrt(Math.max(values[k] ?? 0, 0))
    singularValues[k] = value
    if (value < 1e-12) continue
    for (let i = 0; i < matrix.columns; i++) {
      let sum = 0
      for (let j = 0; j < width; j++) sum += (projected.data[i * width + j] ?? 0) * vectors.get(j, k)
      right.data[i * rank + k] = sum / value
    }
  }
  return { rightVectors: fixSigns(right), values: singularValues }
}

function createSigns(rows: number, columns: number, seed: number): Dense {
  const bits = createRandomBits(seed)
  const matrix = createZeros(rows, columns)
  for (let i = 0; i < matrix.data.length; i++) matrix.data[i] = bits() & 1 ? 1 : -1
  return matrix
}

/** Returns mᵀ · m, shape [columns, columns]. */
function computeGram(matrix: Dense) {
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

/** Negates each column whose entry of largest magnitude is negative. */
function fixSigns(matrix: Dense): Dense {
  const { rows, columns, data } = matrix
  for (let k = 0; k < columns; k++) {
    let largest = 0
    for (let i = 0; i < rows; i++) {
      const value = data[i * columns + k] ?? 0
      if (Math.abs(value) > Math.abs(largest)) largest = value
    }
    if (largest < 0) for (let i = 0; i < rows; i++) data[i * columns + k] = -(data[i * columns + k] ?? 0)
  }
  return matrix
}
