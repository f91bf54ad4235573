/** Memory that minds give back: what is asked next is read or computed again, and is the same. */
import t from 'tap'
import { daySearch } from '../src/memory/today.ts'
import { vectorCache } from '../src/memory/vector-cache.ts'

const width = 4

/** Rows of a mind: unit vectors along one axis each. */
const rowsOf = (after: number, count: number) =>
  Array.from({ length: count - after }, (_, i) => {
    const vector = new Float32Array(width)
    vector[(after + i) % width] = 1
    return { memory_seq: after + i + 1, vec: new Uint8Array(vector.buffer) }
  })

t.test('vectorCache: a mind that was given back is read again', async (t) => {
  const reads: number[] = []
  const cache = vectorCache((mindSeq, _embedder, after) => {
    reads.push(mindSeq)
    return rowsOf(after, 8)
  }, 2 ** 20)
  const ask = (mindSeq: number) =>
    cache.search({
      mindSeq,
      embedderId: 'e',
      width,
      top: 2,
      also: [],
      last: 8,
      queries: [new Float32Array([1, 0, 0, 0])],
    })
  const first = ask(1)
  ask(2)
  const { bytes } = cache
  t.equal(cache.shrink(1), bytes / 2, 'the one that was asked longest ago')
  t.same(ask(1), first)
  t.same(reads, [1, 2, 1])
  cache.shrink(Number.POSITIVE_INFINITY)
  t.equal(cache.bytes, 0)
})

t.test('daySearch: stems that were given back are made again', async (t) => {
  const day = daySearch()
  const row = { seq: 1, kind: 'fact', content: 'the well in the valley is dry' } as never
  const question = [{ text: 'is the well dry', words: ['well', 'dry'], vector: undefined }]
  const found = day.found(question, [row], [undefined])
  const bytes = day.bytes()
  t.ok(bytes > 0)
  t.equal(day.shrink(Number.POSITIVE_INFINITY), bytes)
  t.equal(day.bytes(), 0)
  t.same(day.found(question, [row], [undefined]), found)
})
