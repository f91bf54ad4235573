import ndarray from 'ndarray'
import t, { type Test } from 'tap'
import { orthonormalize } from '../../src/domain/orthonormal.ts'
import { randomBits } from '../../src/domain/random.ts'
import { sparse } from '../../src/domain/sparse.ts'
import { symmetricEigen } from '../../src/domain/symmetric-eigen.ts'
import { type SvdOptions, truncatedSvd } from '../../src/domain/truncated-svd.ts'

const run = (rows: readonly ReadonlyMap<number, number>[], columns: number, options: SvdOptions) => {
  const passes = truncatedSvd(sparse(rows, columns), options)
  for (;;) {
    const pass = passes.next()
    if (pass.done) return pass.value
  }
}

const near = (t: Test, found: number | undefined, wanted: number, tolerance: number, what: string) =>
  t.ok(Math.abs((found ?? Number.NaN) - wanted) <= tolerance, `${what}: ${found} is near ${wanted}`)

t.test('truncatedSvd: a diagonal matrix has its entries as singular values', async (t) => {
  const entries = [9, 7, 5, 3, 1, 0.5]
  const rows = entries.map((value, i) => new Map([[i, value]]))
  const { values, right } = run(rows, entries.length, { rank: 3, seed: 7 })
  for (const k of [0, 1, 2]) {
    near(t, values[k], entries[k] ?? 0, 1e-6, `value ${k}`)
    near(t, right.data[k * right.columns + k], 1, 1e-6, `vector ${k}`)
  }
})

t.test('truncatedSvd: a matrix of rank one gives its row direction', async (t) => {
  const rows = [1, 2, 3, 4].map((scale) => new Map([3, 4].map((value, j) => [j, scale * value])))
  const { values, right } = run(rows, 2, { rank: 1, seed: 1 })
  near(t, values[0], Math.sqrt(30) * 5, 1e-9, 'the value is the product of both lengths')
  near(t, right.data[0], 0.6, 1e-9, 'first')
  near(t, right.data[1], 0.8, 1e-9, 'second')
})

t.test('truncatedSvd: the same seed gives the same bytes', async (t) => {
  const bits = randomBits(3)
  const rows = Array.from(
    { length: 60 },
    () => new Map(Array.from({ length: 8 }, () => [bits() % 40, (bits() % 100) / 10])),
  )
  const twice = [1, 2].map(() => run(rows, 40, { rank: 10, seed: 5 }).right.data)
  t.same(twice[0], twice[1])
})

t.test('symmetricEigen: the matrix is what its eigenvectors and eigenvalues say', async (t) => {
  const entries = [4, 1, 2, 1, 3, 0, 2, 0, 5]
  const { values, vectors } = symmetricEigen(ndarray(Float64Array.from(entries), [3, 3]))
  for (const i of [0, 1, 2]) {
    for (const j of [0, 1, 2]) {
      const sum = [0, 1, 2].reduce(
        (total, k) => total + vectors.get(i, k) * (values[k] ?? 0) * vectors.get(j, k),
        0,
      )
      near(t, sum, entries[i * 3 + j] ?? 0, 1e-12, `entry ${i}, ${j}`)
    }
  }
  t.ok((values[0] ?? 0) >= (values[1] ?? 0) && (values[1] ?? 0) >= (values[2] ?? 0), 'in descending order')
})

t.test('orthonormalize: a dependent column becomes zero', async (t) => {
  const { data } = orthonormalize({ rows: 2, columns: 2, data: Float64Array.from([3, 6, 4, 8]) })
  near(t, data[0], 0.6, 1e-12, 'the first column has length 1')
  t.same([data[1], data[3]], [0, 0])
})
