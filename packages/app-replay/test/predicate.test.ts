import t from 'tap'
import { evaluate, parsePredicate } from '../src/domain/predicate.ts'
import type { SeriesPlan } from '../src/domain/series-name.ts'

const plan = (name: string): SeriesPlan => ({ name, of: 'frame', what: 'frame', unit: '', quantity: '' })

function value(text: string, values: Readonly<Record<string, number>> = {}): number {
  const { plans, expression } = parsePredicate(text, plan)
  return evaluate(expression, (index) => values[plans[index]?.name ?? ''] ?? Number.NaN)
}

t.test('predicate: operators bind as in arithmetic, and join as in logic', async (t) => {
  t.equal(value('1 + 2 * 3 == 7'), 1)
  t.equal(value('(1 + 2) * 3 == 9'), 1)
  t.equal(value('-2 - -3'), 1)
  t.equal(value('8 / 4 / 2'), 1)
  t.equal(value('1 < 2 or 1 > 2 and 1 > 3'), 1, 'and binds tighter')
  t.equal(value('not 1 > 2 and 2 > 1'), 1)
  t.equal(value('abs(-1.5e0) >= 1.5 && !(.5 != 0.5)'), 1)
})

t.test('predicate: what is absent meets no comparison', async (t) => {
  t.equal(value('x < 1'), 0)
  t.equal(value('x >= 1'), 0)
  t.equal(value('x != 1'), 0)
  t.equal(value('x or 1'), 1)
  t.equal(value('not x'), 1)
})

t.test('predicate: a function is the series of a body or a pair', async (t) => {
  const { plans } = parsePredicate('speed(2) > 1 and normal_force(1, floor) > body.2.speed', plan)
  t.same(
    plans.map(({ name }) => name),
    ['body.2.speed', 'pair.1.floor.normal_force'],
    'each series once',
  )
})
