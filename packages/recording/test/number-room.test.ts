import t from 'tap'
import { NumberRows, numberRoom } from '../src/recorder/number-room.ts'

t.test(
  'numberRoom: nothing that was taken is given to somebody else before the room is cleared',
  async (t) => {
    const room = numberRoom()
    const lengths = Array.from({ length: 400 }, (_, i) => (i * 37) % 900)
    // One that is longer than a slab stands alone.
    const taken = [...lengths, 100_000, 5].map((length, i) => room.take(length).fill(i))
    t.same(
      taken.map(({ length }) => length),
      [...lengths, 100_000, 5],
    )
    t.ok(taken.every((numbers, i) => numbers.every((number) => number === i)))
  },
)

t.test('numberRoom: memory that was taken is taken again after the room is cleared', async (t) => {
  const room = numberRoom()
  const [first, second] = [room.take(10), room.take(10)]
  room.clear()
  const again = room.take(20)
  t.equal(again.buffer, first.buffer)
  t.equal(again.byteOffset, first.byteOffset)
  again.fill(7)
  t.same([first[0], second[9]], [7, 7])
})

t.test('numberRoom: of what was needed once, a little is kept', async (t) => {
  const room = numberRoom()
  const fill = (): ReadonlySet<unknown> =>
    new Set(Array.from({ length: 100 }, () => room.take(60_000).buffer))
  const first = fill()
  room.clear()
  const kept = [...fill()].filter((buffer) => first.has(buffer))
  t.equal(first.size, 100)
  t.equal(kept.length, 16)
})

t.test('NumberRows: rows stay in order while there come more than were expected', async (t) => {
  const rows = new NumberRows()
  for (let i = 0; i < 1000; i++) {
    const at = rows.begin(3)
    rows.numbers.set([i, -i, i / 2], at)
  }
  const taken = rows.taken()
  t.equal(taken.length, 3000)
  t.same([...taken.subarray(2997)], [999, -999, 499.5])
  t.ok(Array.from({ length: 1000 }, (_, i) => taken[3 * i] === i).every(Boolean))
  rows.clear()
  t.equal(rows.taken().length, 0)
})
