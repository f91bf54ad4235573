import t from 'tap'
import { looksMonotone, lowerBound, type Probe, type Row } from '../../src/domain/row-search.ts'

/** A table whose rows have these ids and keys. */
const probeOf =
  (rows: readonly Row[]): Probe =>
  (id) =>
    rows.find((row) => row.id >= id)

const table = (keys: readonly number[], gap = 1): readonly Row[] =>
  keys.map((key, i) => ({ id: 1 + i * gap, key }))

t.test('lowerBound: finds the first row of every key, with gaps in the ids and without', async (t) => {
  for (const gap of [1, 7]) {
    const rows = table([1, 1, 2, 4, 4, 4, 9], gap)
    const span = { first: 1, last: rows.at(-1)?.id ?? 0 }
    for (let key = 0; key <= 10; key++) {
      const bound = lowerBound(probeOf(rows), span, key)
      const wanted = rows.find((row) => row.key >= key)
      t.equal(rows.find(({ id }) => id >= bound)?.id, wanted?.id, `key ${key}, gap ${gap}`)
    }
  }
})

t.test('lowerBound: takes about log2 of the rows in probes', async (t) => {
  const rows = 1_000_000
  let probes = 0
  const probe: Probe = (id) => {
    probes++
    return id > rows ? undefined : { id, key: Math.ceil(id / 20) }
  }
  t.equal(lowerBound(probe, { first: 1, last: rows }, 25_000), 24_999 * 20 + 1)
  t.ok(probes <= 21)
})

t.test('looksMonotone: notices rows out of order and keys that are missing', async (t) => {
  const inOrder = table(Array.from({ length: 100 }, (_, i) => Math.floor(i / 3)))
  const span = { first: 1, last: 100 }
  t.ok(looksMonotone(probeOf(inOrder), span, 256))
  t.notOk(looksMonotone(probeOf(table([5, 6, 7, 1])), { first: 1, last: 4 }, 256))
  t.notOk(looksMonotone(probeOf(table([5, Number.NaN, 7])), { first: 1, last: 3 }, 256))
})
