import t from 'tap'
import { computeScore, diagnoseAll } from '../../bench/replay/diagnosis.ts'

t.setTimeout(240_000)

/** The long form takes the generated recordings too; random ones are diagnosed with Replay's own tests. */
const isLong = process.env.CAUSEWAY_LONG !== undefined

t.test(
  'diagnose: over all recordings the injected fault ranks first, and clean ones have no warning',
  async (t) => {
    const cases = await diagnoseAll({ committedOnly: !isLong })
    t.ok(cases.length > (isLong ? 100 : 20))
    const { wrong } = computeScore(cases)
    t.same(
      wrong.map(({ name, findings }) => ({ name, first: findings[0] })),
      [],
    )
  },
)
