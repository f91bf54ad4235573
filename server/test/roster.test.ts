import t from 'tap'
import { type Listed, Roster } from '../src/roster.ts'

const named = (name: string): Listed & { readonly name: string } => ({ name, place: 0 })
const names = (roster: Roster<ReturnType<typeof named>>) => [...roster].map(({ name }) => name).sort()

t.test('Roster: what was added stands in it until it is removed', async (t) => {
  const roster = new Roster<ReturnType<typeof named>>()
  const [a, b, c, d] = [named('a'), named('b'), named('c'), named('d')]
  for (const one of [a, b, c]) roster.add(one)
  t.same(names(roster), ['a', 'b', 'c'])
  roster.remove(a)
  t.same(names(roster), ['b', 'c'])
  roster.add(d)
  roster.remove(d)
  roster.remove(c)
  t.same(names(roster), ['b'])
  roster.remove(b)
  t.equal(roster.size, 0)
  t.same(names(roster), [])
})

t.test('Roster: removing what is not in it, or no longer, changes nothing', async (t) => {
  const roster = new Roster<ReturnType<typeof named>>()
  const [a, b] = [named('a'), named('b')]
  roster.add(a)
  roster.remove(b)
  roster.remove(a)
  roster.remove(a)
  roster.add(b)
  roster.remove(a)
  t.same(names(roster), ['b'])
})

t.test('Roster: each is seen once while those that were seen are removed', async (t) => {
  const roster = new Roster<ReturnType<typeof named>>()
  for (const name of ['a', 'b', 'c', 'd', 'e']) roster.add(named(name))
  const seen: string[] = []
  for (const one of roster) {
    seen.push(one.name)
    if (one.name !== 'c') roster.remove(one)
  }
  t.same(seen.sort(), ['a', 'b', 'c', 'd', 'e'])
  t.same(names(roster), ['c'])
})
