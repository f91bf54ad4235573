import t from 'tap'
import { memoryShelf, type ShelfMind } from '../../src/memory/shelf.ts'
import type { WantedMaterial } from '../../src/store/material.ts'
import type { MemoryRow } from '../../src/store/types.ts'

const row = (seq: number): MemoryRow => ({
  seq,
  id: `m${seq}`,
  content: `memory ${seq}`,
  importance: 5,
  sim_time: seq,
  location: null,
  kind: 'episodic',
  subject: null,
  tags: [],
  superseded_by: null,
})
const mind = (change: Partial<ShelfMind> = {}): ShelfMind => ({
  seq: 1,
  memory_rev: 1,
  daily_count: 2,
  memory_count: 9,
  ...change,
})

/** A file that counts what it is asked. */
function countingFile() {
  const asked: (WantedMaterial | readonly number[])[] = []
  return {
    asked,
    material: async (_: unknown, wanted: WantedMaterial) => {
      asked.push(wanted)
      return {
        postings: new Map(wanted.words.map((word) => [word, [word.length]])),
        ...(wanted.today === true ? { today: [row(100), row(101)] } : {}),
        ...(wanted.standing === undefined ? {} : { standing: { rows: [row(8), row(9)], lastVector: 9 } }),
      }
    },
    bySeqs: async (seqs: readonly number[]) => {
      asked.push(seqs)
      return seqs.filter((seq) => seq < 50).map(row)
    },
  }
}
const question = (...words: readonly string[]) => ({ words, beside: 2, embedderId: 'e', withToday: true })

t.test('shelf: what was read once is not read again', async (t) => {
  const file = countingFile()
  const shelf = memoryShelf(file, 1e6)
  const first = await shelf.material(mind(), question('bread', 'well'))
  t.equal(file.asked.length, 1)
  t.same(await shelf.material(mind(), question('well')), first)
  t.equal(file.asked.length, 1)
  await shelf.material(mind(), question('well', 'mill'))
  t.match(file.asked[1], { words: ['mill'], today: false, standing: undefined }, 'only what is missing')
  t.same(
    (await shelf.rows(mind(), [9, 3])).map(({ seq }) => seq),
    [9, 3],
  )
  t.same(file.asked[2], [3], 'the newest are there already')
  t.same(await shelf.rows(mind(), [3, 9, 60]), [row(3), row(9)], 'what is gone is left out')
})

t.test('shelf: a change of what lasts, and a day that has grown, are read anew', async (t) => {
  const file = countingFile()
  const shelf = memoryShelf(file, 1e6)
  await shelf.material(mind(), question('well'))
  const full = shelf.bytes
  await shelf.material(mind({ daily_count: 3 }), question('well'))
  t.match(file.asked[1], { words: [], today: true, standing: undefined })
  await shelf.material(mind({ memory_rev: 2 }), question('well'))
  t.match(file.asked[2], { words: ['well'], today: true, standing: { beside: 2, embedderId: 'e' } })
  t.equal(shelf.bytes, full, 'what was kept before is gone')
  await shelf.material(mind({ memory_rev: 2 }), { ...question('well'), embedderId: 'other' })
  t.match(file.asked[3], { words: [], standing: { embedderId: 'other' } }, 'another space, other vectors')
})

t.test('shelf: a mind without memories, or one that leaves its day out, is asked for less', async (t) => {
  const file = countingFile()
  const shelf = memoryShelf(file, 1e6)
  const none = await shelf.material(mind({ memory_count: 0, daily_count: 0 }), question('well'))
  t.same(none.today, [])
  t.same(none.standing, { rows: [], lastVector: 0 })
  t.equal(file.asked.length, 0)
  const without = await shelf.material(mind(), { ...question('well'), withToday: false })
  t.same(without.today, [])
  t.match(file.asked, [{ today: false }])
})

t.test(
  'shelf: the mind that was asked least lately goes first, and all of it can be given back',
  async (t) => {
    const file = countingFile()
    const one = memoryShelf(file, 1e9)
    await one.material(mind(), question('well'))
    const shelf = memoryShelf(file, 2 * one.bytes)
    for (const seq of [1, 2, 1, 3]) await shelf.material(mind({ seq }), question('well'))
    const before = file.asked.length
    await shelf.material(mind({ seq: 1 }), question('well'))
    t.equal(file.asked.length, before, 'the first was asked again meanwhile, and is there')
    await shelf.material(mind({ seq: 2 }), question('well'))
    t.equal(file.asked.length, before + 1, 'the second had to go')
    t.equal(shelf.shrink(1), one.bytes)
    t.equal(shelf.shrink(1e9), one.bytes)
    t.equal(shelf.bytes, 0)
  },
)
