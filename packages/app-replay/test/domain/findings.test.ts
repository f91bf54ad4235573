import t from 'tap'
import { createFinding } from '../../src/domain/findings/finding.ts'
import { describeFinding } from '../../src/domain/findings/finding-view.ts'

const run = { first: 43, last: 288, peak: 50, value: 1.28, limit: 0.8, pair: null }
const options = { unit: '', confidence: 0.9 } as const

t.test('describeFinding joins a verb to its bodies, and other clauses by a colon', async (t) => {
  const describe = (kind: 'restitution' | 'friction_cone', bodies: readonly number[]) =>
    describeFinding(createFinding({ ...run, bodies }, { kind, ...options }), { 9: 'floor' })
  t.match(
    describe('restitution', [1, 9]),
    /: body 1 and floor \(body 9\) bounce differently from their restitution /,
  )
  t.match(describe('restitution', [1]), /: body 1 bounces differently from its restitution /)
  t.match(describe('friction_cone', [1, 9]), /: body 1 and floor \(body 9\): friction exceeds mu\*Fn /)
})
