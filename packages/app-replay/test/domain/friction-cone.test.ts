import type { FrictionConstraint } from '@causeway/recording'
import t from 'tap'
import { checkCone, coneSummary, judgeCones } from '../../src/domain/friction-cone.ts'

const zero = { x: 0, y: 0, z: 0 }
const newton = { unit: 'N', dt: null } as const

/** A contact of body 1 on floor 2. */
const contact = (row: Partial<FrictionConstraint>): FrictionConstraint => ({
  body_a_id: 1,
  body_b_id: 2,
  normal: { x: 0, y: 0, z: -1 },
  tangent1: { x: 1, y: 0, z: 0 },
  tangent2: { x: 0, y: 1, z: 0 },
  lever_arm_a: zero,
  lever_arm_b: zero,
  friction_coefficient: 0.5,
  normal_lambda: 98.1,
  tangent1_lambda: 0,
  tangent2_lambda: 0,
  ...row,
})

const told = (rows: readonly Partial<FrictionConstraint>[], withoutFriction = 0): string => {
  const checks = rows.map((row) => checkCone(contact(row), newton))
  return coneSummary(checks, judgeCones(checks), withoutFriction)
}

t.test('cone: the worked example of the original design is at its limit and keeps it', async (t) => {
  const check = checkCone(contact({ tangent1_lambda: 49.04, tangent2_lambda: 0.12 }), newton)
  const total = Math.sqrt(49.04 ** 2 + 0.12 ** 2)
  t.match(check, { normal_force: 98.1, friction_limit: 49.05, exceeds_limit: false, normal_force_n: 98.1 })
  t.ok(Math.abs((check.total_tangent_force ?? 0) - total) < 1e-12)
  t.ok(Math.abs((check.margin ?? 0) - (49.05 - total)) < 1e-12)
  t.ok(Math.abs((check.utilization ?? 0) - total / 49.05) < 1e-12)
  t.equal(
    told([{ tangent1_lambda: 49.04, tangent2_lambda: 0.12 }]),
    '1 contact checked. 0 violations detected. Body 1 is at friction limit (99.98% of mu*Fn).',
  )
})

t.test('cone: up to 1 % over the limit is slack, more is a violation', async (t) => {
  const exceeds = (share: number) =>
    checkCone(contact({ tangent1_lambda: 49.05 * share }), newton).exceeds_limit
  t.same([0.999, 1.009, 1.011].map(exceeds), [false, false, true])
})

t.test('cone: noise under a normal value of 0 violates the plain rule and not the strict one', async (t) => {
  const noise = { normal_lambda: 0, tangent1_lambda: 2e-8 }
  const real = { normal_lambda: 0, tangent1_lambda: 0.6 }
  t.match(checkCone(contact(noise), newton), { exceeds_limit: true, exceeds_limit_strict: false })
  t.match(checkCone(contact(real), newton), {
    exceeds_limit: true,
    exceeds_limit_strict: true,
    utilization: null,
    margin: -0.6,
  })
  t.equal(told([noise]), '1 contact checked. 1 violation detected (1 within noise of 1e-6).')
  t.match(told([noise, real]), /Body 1 exceeds the friction limit \(tangent force without normal force\)/)
})

t.test('cone: a missing value is no verdict, and is counted', async (t) => {
  const checks = [null, 0].map((tangent1_lambda) => checkCone(contact({ tangent1_lambda }), newton))
  t.match(checks[0], {
    exceeds_limit: null,
    exceeds_limit_strict: null,
    margin: null,
    total_tangent_force: null,
  })
  t.match(judgeCones(checks), { violation_count: 0, unjudged_count: 1 })
  t.match(told([{ normal_lambda: null }]), /1 contact without values not judged/)
})

t.test('cone: violating contacts are pointed at, and the environment is not blamed', async (t) => {
  const floor = 2147483650
  const rows = [{}, { body_a_id: floor, body_b_id: 7, tangent1_lambda: 98.1 }]
  const checks = rows.map((row) => checkCone(contact(row), newton))
  t.same(judgeCones(checks).exceeding, [{ index: 1, body_a_id: floor, body_b_id: 7, utilization: 2 }])
  t.match(told(rows), /Body 7 exceeds the friction limit \(200.00% of mu\*Fn\)/)
})

t.test('cone: pairs that collide without friction rows are told', async (t) => {
  t.match(told([], 2), /0 contacts checked.*2 pairs collide without friction rows/)
})

t.test('cone: impulses of a diverged solver are measured without overflow', async (t) => {
  const check = checkCone(contact({ tangent1_lambda: 3e195, tangent2_lambda: 4e195 }), newton)
  t.equal(check.total_tangent_force, 5e195)
})
