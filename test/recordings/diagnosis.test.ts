import t from 'tap'
import { computeScore, diagnoseAll } from '../../bench/replay/diagnosis.ts'

// Generates the recordings if they are not cached.
t.setTimeout(240_000)

t.test(
  'diagnose ranks the injected fault of every recording first and reports no warning for clean ones',
  async (t) => {
    const cases = await diagnoseAll()
    t.ok(cases.length > 100)
    const { wrong } = computeScore(cases)
    t.same(
      wrong.map(({ name, findings }) => ({ name, first: findings[0] })),
      [],
    )
  },
)
