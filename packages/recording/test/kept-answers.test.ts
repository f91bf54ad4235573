import t from 'tap'
import { dataBytes } from '../src/domain/data-bytes.ts'
import { keptAnswers } from '../src/kept-answers.ts'

t.test(
  'keptAnswers: bytes are counted, and given back from the answer that was asked longest ago',
  async (t) => {
    const answers = keptAnswers(3)
    let asked = 0
    const ask = (key: string) =>
      answers.of(
        key,
        async () => {
          asked += 1
          return { key, values: new Float64Array(100) }
        },
        {},
      )
    for (const key of ['a', 'b', 'c', 'a']) await ask(key)
    t.equal(asked, 3)
    const { bytes } = answers
    t.ok(bytes >= 2400)
    t.ok(answers.shrink(1) >= 800)
    await ask('a')
    t.equal(asked, 3, 'the one that was asked last is kept')
    await ask('b')
    t.equal(asked, 4, 'the oldest was given back')
    await ask('d')
    t.equal(answers.bytes, bytes, 'no more than three are kept')
    answers.shrink(Number.POSITIVE_INFINITY)
    t.equal(answers.bytes, 0)
  },
)

t.test('dataBytes: plain data is as large as what it holds', async (t) => {
  t.equal(dataBytes('abc'), 19)
  t.equal(dataBytes([1, null, true]), 16 + 24)
  t.equal(dataBytes({ a: 1, b: { c: 'x' } }), 24 + 8 + 24 + 17)
  t.equal(dataBytes(new Float64Array(10)), 64 + 80)
})
