import t from 'tap'
import { evaluate, type Way, ways } from '../../../bench/help/evaluate.ts'
import { tunedSet } from '../../../bench/help/questions.ts'
import { readBaseline, webSet } from '../../../bench/help.ts'
import { verifies } from '../../../test/verifies.ts'

t.setTimeout(300_000)

verifies('help:quality', async (t) => {
  const folder = t.testdir()
  t.ok(webSet.questions.length >= 200)
  const { hybrid, ...others } = await evaluate(folder, webSet)
  t.ok(hybrid.hit5 >= 0.82, `hit@5 ${hybrid.hit5}`)
  t.ok(hybrid.hit10 >= 0.89, `hit@10 ${hybrid.hit10}`)
  t.ok(hybrid.mrr >= 0.66, `MRR ${hybrid.mrr}`)
  for (const [way, { hit5, mrr }] of Object.entries(others)) {
    t.ok(hybrid.hit5 >= hit5, `hit@5 is no less than that of ${way}: ${hit5}`)
    t.ok(hybrid.mrr >= mrr, `MRR is no less than that of ${way}: ${mrr}`)
  }
  const scores = await evaluate(folder, tunedSet)
  const baseline = readBaseline()
  for (const way of Object.keys(ways) as Way[])
    for (const figure of ['hit1', 'hit5', 'hit10', 'mrr'] as const)
      t.ok(scores[way][figure] >= baseline[way][figure] * 0.95, `${way} ${figure}: ${scores[way][figure]}`)
})
