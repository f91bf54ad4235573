import ndarray, { type NdArray } from 'ndarray'

/** Eigenvalues in descending order, and orthonormal eigenvectors as columns, shape [n, n]. */
interface Eigen {
  readonly values: Float64Array
  readonly vectors: NdArray<Float64Array>
}

/** In practice, 6 to 10 sweeps suffice. */
const maxSweeps = 40

/** Uses cyclic Jacobi rotations. Overwrites the matrix. */
export function computeSymmetricEigen(matrix: NdArray<Float64Array>): Eigen {
  const n = matrix.shape[0] ?? 0
  const vectors = ndarray(new Float64Array(n * n), [n, n])
  for (let i = 0; i < n; i++) vectors.set(i, i, 1)
  for (let sweep = 0; sweep < maxSweeps && rotateAll(matrix, vectors, n); sweep++);

  const diagonal = Float64Array.from({ length: n }, (_, i) => matrix.get(i, i))
  const order = [...diagonal.keys()].sort((a, b) => (diagonal[b] ?? 0) - (diagonal[a] ?? 0) || a - b)
  const sorted = ndarray(new Float64Array(n * n), [n, n])
  for (const [to, from] of order.entries())
    for (let i = 0; i < n; i++) sorted.set(i, to, vectors.get(i, from))
  return { values: Float64Array.from(order, (from) => diagonal[from] ?? 0), vectors: sorted }
}

/** Returns `false` if the matrix is diagonal. */
function rotateAll(a: NdArray<Float64Array>, v: NdArray<Float64Array>, n: number): boolean {
  let hasRotated = false
  for (let p = 0; p < n - 1; p++) {
    for (let q = p + 1; q < n; q++) {
      const off = a.get(p, q)
      const [pp, qq] = [a.get(p, p), a.get(q, q)]
      if (Math.abs(off) <= 1e-15 * Math.sqrt(Math.abs(pp * qq)) || Math.abs(off) < 1e-300) continue
      hasRotated = true
      const theta = (qq - pp) / (2 * off)
      const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
      const c = 1 / Math.sqrt(t * t + 1)
      const s = t * c
      for (let k = 0; k < n; k++) {
        const [x, y] = [a.get(k, p), a.get(k, q)]
        a.set(k, p, c * x - s * y)
        a.set(k, q, s * x + c * y)
      }
      for (let k = 0; k < n; k++) {
        const [x, y] = [a.get(p, k), a.get(q, k)]
        a.set(p, k, c * x - s * y)
        a.set(q, k, s * x + c * y)
        const [u, w] = [v.get(k, p), v.get(k, q)]
        v.set(k, p, c * u - s * w)
        v.set(k, q, s * u + c * w)
      }
    }
  }
  return hasRotated
}
