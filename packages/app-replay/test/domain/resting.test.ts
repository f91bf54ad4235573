import type { Frame, RecordingSummary } from '@causeway/recording'
import t from 'tap'
import { checkResting, restingSummary } from '../../src/domain/resting.ts'

const [g, dt] = [9.81, 0.016]
const floor = 2147483649
const summary = { gravity_m_s2: { x: 0, y: 0, z: -g }, dt_s: dt, bodies: [] } as unknown as RecordingSummary
const rule = { velocity: 0.01, angularVelocity: 0.01 }

/** Body 2 on the floor, moving like this. */
function frame(velocity: object, angular_velocity: object | null, isFrictionless = false): Frame {
  const pair = [{ body_a_id: 2, body_b_id: floor, normal: { x: 0, y: 0, z: -1 } }]
  return {
    states: [
      { body_id: 2, velocity, angular_velocity },
      { body_id: 3, velocity: { x: 50, y: 0, z: 0 }, angular_velocity: null },
    ],
    collisions: pair,
    contact_constraints: [],
    friction_constraints: isFrictionless ? [] : pair,
  } as unknown as Frame
}

const still = { x: 0, y: 0, z: 0 }

t.test('resting: the recorded speed g*dt of a resting body is named', async (t) => {
  const check = checkResting(frame({ x: 0, y: 0, z: -g * dt }, still), summary, rule)
  t.match(check, { bodies_in_contact: 1, environment_in_contact: 1, source: 'friction' })
  t.match(check.moving_bodies, [{ body_id: 2, likely_at_rest: true, sliding_speed: 0 }])
  t.match(restingSummary(check, rule), /Likely at rest: 2, whose speed equals g\*dt = 0\.157 m\/s/)
})

t.test('resting: a body that spins or slides is not at rest at any speed', async (t) => {
  const spinning = checkResting(frame({ x: 0, y: 0, z: -g * dt }, { x: 0, y: 0, z: 1 }), summary, rule)
  t.match(spinning.moving_bodies, [{ likely_at_rest: false, angular_velocity_magnitude: 1 }])
  const sliding = checkResting(frame({ x: 0.3, y: 0.4, z: 0 }, still), summary, rule)
  t.match(sliding.moving_bodies, [{ likely_at_rest: false, sliding_speed: 0.5, normal_speed: 0 }])
  t.match(restingSummary(sliding, rule), /Sliding along the contact: 2/)
})

t.test('resting: a speed at the threshold is rest, a body without contact is not looked at', async (t) => {
  t.same(checkResting(frame({ x: 0.01, y: 0, z: 0 }, null), summary, rule).moving_bodies, [])
})

t.test('resting: a velocity that is no number is a body that moves', async (t) => {
  const check = checkResting(frame({ x: null, y: 0, z: 0 }, null), summary, rule)
  t.match(check.moving_bodies, [{ velocity_magnitude: null, likely_at_rest: false }])
})

t.test('resting: without friction rows the collisions tell of contact', async (t) => {
  const check = checkResting(frame(still, still, true), summary, rule)
  t.match(check, { source: 'collisions', bodies_in_contact: 1, moving_bodies: [] })
  t.match(restingSummary(check, rule), /No friction rows/)
})

t.test('resting: where gravity is unknown nothing is said of g*dt', async (t) => {
  const unknown = { ...summary, gravity_m_s2: null } as RecordingSummary
  const check = checkResting(frame({ x: 0, y: 0, z: -g * dt }, still), unknown, rule)
  t.match(check, { rest_speed: null, moving_bodies: [{ likely_at_rest: false }] })
})

t.test('resting: eras without bit 31 tell the environment by its metadata', async (t) => {
  const bodies = [
    { body_id: floor, is_environment: true },
    { body_id: 2, is_environment: true },
  ]
  const check = checkResting(frame(still, still), { ...summary, bodies } as unknown as RecordingSummary, rule)
  t.match(check, { bodies_in_contact: 0, environment_in_contact: 2 })
})
