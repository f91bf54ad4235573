import t from 'tap'
import { placeLabels } from '../src/label-rows.ts'

const label = (item: string, center: number, width = 100) => ({ item, center, width })

t.test('placeLabels: labels with room between them share the lowest row, centred', (t) => {
  t.match(placeLabels([label('a', 100), label('b', 300)], { width: 400, rows: 3 }), [
    { item: 'a', left: 50, row: 0 },
    { item: 'b', left: 250, row: 0 },
  ])
  t.end()
})

t.test('placeLabels: labels that would touch stand in rows, and the first one stands lowest', (t) => {
  const placed = placeLabels([label('a', 100), label('b', 120), label('c', 300)], { width: 400, rows: 3 })
  t.same(
    placed.map(({ row }) => row),
    [0, 1, 0],
  )
  t.end()
})

t.test('placeLabels: a label at the edge is moved inside', (t) => {
  const placed = placeLabels([label('a', 0), label('b', 400)], { width: 400, rows: 1 })
  t.same(
    placed.map(({ left }) => left),
    [0, 300],
  )
  t.end()
})

t.test('placeLabels: a label without room in the last row is left out', (t) => {
  t.same(
    placeLabels([label('a', 50), label('b', 50)], { width: 400, rows: 1 }).map(({ item }) => item),
    ['a'],
  )
  t.end()
})
