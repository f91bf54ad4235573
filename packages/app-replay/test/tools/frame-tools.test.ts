import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { ask, rowsOf } from '../replay-kit.ts'

verifies('replay:frame', async (t) => {
  const client = await ask(t, 'drop')
  const frame = await client.call('get_frame', { frame_id: 150 })
  t.match(frame, {
    frame_id: 150,
    simulation_time: 0.6,
    states: [{ body_id: 2 }],
    collisions: [{ body_a_id: 2, body_b_id: 2147483649, normal: { z: -1 }, contacts: { length: 4 } }],
    friction_constraints: { length: 4 },
    solver: { converged: true, num_contacts: 1, num_constraints: 8 },
    counts: { states: 1, friction_constraints: 4 },
    truncated: false,
  })
})

t.test('get_frame: long lists are cut, and counted exactly', async (t) => {
  const client = await ask(t, 'stack')
  const frame = await client.call('get_frame', { frame_id: 60, max_points: 2 })
  t.match(frame, { truncated: true, counts: { states: 3, friction_constraints: 12 } })
  t.equal(rowsOf(frame.states).length, 2)
  t.match(frame.summary, /max_points/)
})

verifies('replay:body:state', async (t) => {
  const client = await ask(t, 'drop')
  const [start, dt, g] = [0.8, 0.004, 9.81]
  const state = await client.call('get_body_state', { frame_id: 10, body_id: 2 })
  const { position, velocity } = state as Record<string, { z: number }>
  t.ok(Math.abs((velocity?.z ?? 0) + g * 10 * dt) < 1e-9, 'free fall from rest')
  t.ok(
    Math.abs((position?.z ?? 0) - (start - g * dt * dt * 55)) < 1e-9,
    'symplectic Euler: the sum of 1..10 steps',
  )
  t.match(state, { orientation: { w: 1 }, angular_velocity: { x: 0, y: 0, z: 0 }, angular_speed: 0 })
})

t.test('get_body_state: a body that appears later is not found yet, and the answer says when', async (t) => {
  const client = await ask(t, 'late_spawn')
  await t.rejects(client.call('get_body_state', { frame_id: 39, body_id: 3 }), {
    code: 'BODY_NOT_FOUND',
    data: { body_id: 3, bodies: [2], first_frame: 40 },
  })
  t.match(await client.call('get_body_state', { frame_id: 40, body_id: 3 }), { body_id: 3 })
})

t.test('get_body_state: the floor has no state', async (t) => {
  const client = await ask(t, 'drop')
  await t.rejects(client.call('get_body_state', { frame_id: 100, body_id: 1 }), {
    code: 'BODY_NOT_FOUND',
    data: { bodies: [2] },
  })
})

verifies('replay:compare', async (t) => {
  const client = await ask(t, 'drop')
  const [a, b, dt, g] = [10, 30, 0.004, 9.81]
  const answer = await client.call('compare_body_across_frames', { body_id: 2, frame_a: a, frame_b: b })
  const { velocity_delta } = answer as { velocity_delta: { z: number } }
  t.ok(Math.abs(velocity_delta.z + g * dt * (b - a)) < 1e-9)
  t.ok(Math.abs(Number(answer.elapsed_time) - dt * (b - a)) < 1e-12)
  t.match(answer, { orientation_angle: 0, angular_velocity_delta: { x: 0, y: 0, z: 0 } })
  t.match(answer.summary, /^Body 2 moved .* in Z.*faster/)
  const landing = await client.call('compare_body_across_frames', { body_id: 2, frame_a: 1, frame_b: 150 })
  t.match(landing.contact_delta, { contacts_a: 0, contacts_b: 4, gained: [2147483649], lost: [] })
})
