import t from 'tap'
import { finite } from '../src/finite.ts'

t.test('finite: NaN and the infinities become null at any depth', async (t) => {
  const data = {
    a: Number.NaN,
    b: [1, Number.POSITIVE_INFINITY, { c: Number.NEGATIVE_INFINITY }],
    d: 'x',
    e: null,
  }
  t.same(finite(data), { a: null, b: [1, null, { c: null }], d: 'x', e: null })
  t.ok(Number.isNaN(data.a), 'the original stays')
})

t.test('finite: what is clean is given back as it is', async (t) => {
  const data = { a: [1, 2, { b: 'x' }] }
  t.equal(finite(data), data)
})
