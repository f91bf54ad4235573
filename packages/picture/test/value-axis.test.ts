import t from 'tap'
import { valueAxis } from '../src/value-axis.ts'

t.test('valueAxis: plain values are linear, from the least to the greatest', (t) => {
  t.match(valueAxis([3, 1, 2], 'auto'), { type: 'linear', domain: [1, 3], labelExpr: null })
  t.end()
})

t.test('valueAxis: values that differ by rounding alone are not blown up into noise', (t) => {
  const { domain } = valueAxis([4.905, 4.905 + 1e-15], 'auto')
  t.ok(domain[0] < 4.7 && domain[1] > 5.1)
  t.same(valueAxis([0, 0], 'auto').domain, [-1, 1])
  t.end()
})

t.test('valueAxis: a blow-up turns auto to a log scale, and leaves linear alone', (t) => {
  const values = [1, 2, 3, 4, 1e9]
  t.equal(valueAxis(values, 'auto').type, 'log')
  t.equal(valueAxis([...values, -1], 'auto').type, 'symlog')
  t.equal(valueAxis(values, 'linear').type, 'linear')
  t.equal(valueAxis([10, 1e195, 1e195, 1e195, 1e195], 'auto').type, 'log')
  t.equal(valueAxis([1, 2, 3, 4, 1000], 'auto').type, 'linear')
  t.equal(valueAxis([1e-17, 1e-17, 1e-17, 1], 'auto').type, 'linear', 'rest, then motion')
  t.end()
})

t.test('valueAxis: log ticks are powers of ten from the lowest decade on, inside the domain', (t) => {
  const { domain, ticks } = valueAxis([2e-9, 0.5], 'log')
  t.same(ticks, [1e-9, 1e-7, 1e-5, 1e-3, 0.1, 10])
  t.same(domain, [1e-9, 10])
  t.end()
})

t.test('valueAxis: log of values at or below zero is symlog, alike on both sides', (t) => {
  const { type, domain, ticks } = valueAxis([-1e6, 0, 1, 1e6], 'log')
  t.equal(type, 'symlog')
  t.same(domain, [-1e6, 1e6])
  t.ok(ticks?.includes(0))
  t.same(ticks, ticks?.map((tick) => -tick || 0).reverse())
  t.end()
})

t.test('valueAxis: every axis is finite and ascending, up to the ends of float64', (t) => {
  const most = Number.MAX_VALUE
  const least = Number.MIN_VALUE
  for (const values of [
    [most, -most],
    [most],
    [least],
    [-least, most],
    [least, 1],
    [least, most],
    [0],
    [1e195, 1],
  ]) {
    for (const wish of ['auto', 'linear', 'log'] as const) {
      const { type, domain, ticks, constant } = valueAxis(values, wish)
      const label = `${values} ${wish}`
      t.ok(domain.every(Number.isFinite) && domain[0] < domain[1], label)
      t.ok(type !== 'log' || domain[0] > 0, label)
      t.ok(constant === undefined || (constant > 0 && Number.isFinite(domain[1] / constant)), label)
      t.ok(
        (ticks ?? []).every((tick) => tick >= domain[0] && tick <= domain[1]),
        label,
      )
    }
  }
  t.end()
})
