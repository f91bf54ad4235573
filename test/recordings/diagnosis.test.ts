import t from 'tap'
import { computeScore, diagnoseAll } from '../../bench/replay/diagnosis.ts'

t.setTimeout(240_000)

/** The long check includes the generated recordings; Replay's tests diagnose random ones. */
const isLong = process.env.CAUSEWAY_LONG !== undefined

t.test(
  'diagnose ranks the injected fault of every recording first and reports no warning for clean ones',
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
