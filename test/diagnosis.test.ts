import t from 'tap'
import { diagnoseAll, scoreOf } from '../scripts/bench/diagnosis.ts'

t.setTimeout(240_000)

t.test(
  'diagnose: over all recordings the injected fault ranks first, and clean ones have no warning',
  async (t) => {
    const cases = await diagnoseAll()
    t.ok(cases.length > 100)
    const { wrong } = scoreOf(cases)
    t.same(
      wrong.map(({ name, findings }) => ({ name, first: findings[0] })),
      [],
    )
  },
)
