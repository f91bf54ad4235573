import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { ask, rowsOf } from '../replay-kit.ts'

verifies('replay:cone:worked-example', async (t) => {
  const client = await ask(t, 'slide_at_45', {
    change: (db) => {
      db.exec(`DELETE FROM FrictionConstraintRecord WHERE frame_id = 44
        AND id NOT IN (SELECT min(id) FROM FrictionConstraintRecord WHERE frame_id = 44)`)
      db.exec(`UPDATE FrictionConstraintRecord SET friction_coefficient = 0.5, normal_lambda = 98.1,
        tangent1_lambda = 49.04, tangent2_lambda = 0.12 WHERE frame_id = 44`)
    },
  })
  const answer = await client.call('check_friction_cone', { frame_id: 44 })
  const [contact] = rowsOf(answer.violations)
  const total = Math.hypot(49.04, 0.12)
  const near = (field: string, value: number): boolean => Math.abs(Number(contact?.[field]) - value) < 1e-9
  t.match(contact, { friction_coefficient: 0.5, normal_force: 98.1, exceeds_limit: false })
  t.ok(near('friction_limit', 49.05))
  t.ok(near('total_tangent_force', total))
  t.ok(near('margin', 49.05 - total))
  t.ok(near('utilization', total / 49.05))
  t.match(answer, { violation_count: 0, exceeding: [], epsilon: 0.01 })
  t.equal(
    answer.summary,
    '1 contact checked. 0 violations detected. Body 1 is at friction limit (99.98% of mu*Fn).',
  )
})

verifies('replay:cone:violation', async (t) => {
  const client = await ask(t, 'slide_at_45')
  const answer = await client.call('check_friction_cone', { frame_id: 45 })
  t.match(answer, { violation_count: 4, strict_violation_count: 4, unit: 'N·s', body_id: null })
  t.same(
    rowsOf(answer.exceeding).map(({ index }) => index),
    [0, 1, 2, 3],
  )
  const unnamed = await client.call('check_friction_cone', { frame_id: 45, body_id: null })
  t.same(unnamed, answer, 'null names no body')
  const calm = await client.call('check_friction_cone', { frame_id: 44, body_id: 2147483650 })
  t.match(calm, { violation_count: 0, body_id: 2147483650, violations: { length: 4 } })
})

verifies('replay:cone:strict', async (t) => {
  const client = await ask(t, 'slide_at_45', {
    change: (db) =>
      db.exec(`UPDATE FrictionConstraintRecord SET normal_lambda = 0, tangent1_lambda = 3e-15, tangent2_lambda = 0
        WHERE frame_id = 44`),
  })
  const answer = await client.call('check_friction_cone', { frame_id: 44 })
  t.match(answer, { violation_count: 4, strict_violation_count: 0 })
  t.match(answer.summary, /4 violations detected \(4 within noise of 1e-6\)\.$/)
})

verifies('replay:cone:old-era', async (t) => {
  const client = await ask(t, 'era_no_tangents')
  await t.rejects(client.call('check_friction_cone', { frame_id: 45 }), {
    code: 'NOT_RECORDED',
    data: { wanted: ['tangent_lambdas'], era: 'friction' },
  })
})

t.test('check_friction_cone: a frictionless pair is said to have no cone', async (t) => {
  const client = await ask(t, 'frictionless')
  const answer = await client.call('check_friction_cone', { frame_id: 50 })
  t.match(answer, { violations: [], pairs_without_friction: 1, summary: /no cone to check/ })
})

verifies('replay:penetration', async (t) => {
  const client = await ask(t, 'penetration')
  const deep = await client.call('check_penetration', { frame_id: 120 })
  const [pair] = rowsOf(deep.excessive_penetrations)
  t.match(pair, { body_a_id: 2, body_b_id: 2147483649 })
  const depth = Number(pair?.penetration_depth)
  t.ok(depth > 0.01)
  const equal = await client.call('check_penetration', { frame_id: 120, threshold: depth })
  t.match(equal, { excessive_penetrations: [], checked: 1 }, 'strictly deeper')
  await t.rejects(client.call('check_penetration', { frame_id: -1 }), { code: 'FRAME_NOT_FOUND' })
})

verifies('replay:resting', async (t) => {
  const rest = 9.81 * 0.004
  const client = await ask(t, 'drop', {
    change: (db) =>
      db.exec(`UPDATE VelocityRecord SET x = 0, y = 0, z = -${rest} WHERE id = (SELECT velocity_id
        FROM AssetDynamicStateRecord s JOIN InertialStateRecord i ON i.id = s.kinematicState_id
        WHERE s.frame_id = 150)`),
  })
  const answer = await client.call('check_resting_contact', { frame_id: 150 })
  t.match(answer, {
    bodies_in_contact: 1,
    environment_in_contact: 1,
    moving_bodies: [{ body_id: 2, velocity_magnitude: rest, likely_at_rest: true }],
    summary: /g\*dt = 0\.03924 m\/s/,
  })
  const lenient = await client.call('check_resting_contact', { frame_id: 150, velocity_threshold: 0.2 })
  t.match(lenient, { moving_bodies: [], velocity_threshold: 0.2 })
})

verifies('replay:resting:frictionless', async (t) => {
  const client = await ask(t, 'era_no_constraints')
  const answer = await client.call('check_resting_contact', { frame_id: 45 })
  t.match(answer, { bodies_in_contact: 2, environment_in_contact: 1, source: 'collisions' })
  t.match(answer.summary, /No friction rows/)
})
