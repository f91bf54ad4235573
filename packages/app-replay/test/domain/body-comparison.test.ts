import type { BodyState, Frame } from '@causeway/recording'
import t from 'tap'
import { compareBody, comparisonSummary, type Sighting } from '../../src/domain/body-comparison.ts'

/** A body in free fall from rest at 100 m, spinning about z at 2 rad/s, after `time` seconds. */
function falling(frame_id: number, time: number, contacts: readonly number[] = []): Sighting {
  const state = {
    body_id: 2,
    position: { x: 0, y: 0, z: 100 - 4.905 * time ** 2 },
    velocity: { x: 0, y: 0, z: -9.81 * time },
    orientation: { w: Math.cos(time), x: 0, y: 0, z: Math.sin(time) },
    angular_velocity: { x: 0, y: 0, z: 2 },
  } as unknown as BodyState
  const collisions = contacts.map((body_b_id) => ({ body_a_id: 2, body_b_id, contacts: [{}, {}] }))
  const frame = { frame_id, simulation_time: time, collisions, friction_constraints: [] }
  return { state, frame: frame as unknown as Frame }
}

const near = (a: number | null, b: number): boolean => a !== null && Math.abs(a - b) < 1e-9

t.test('comparison: free fall gives the closed form, b - a', async (t) => {
  const change = compareBody(falling(100, 1), falling(150, 1.5))
  t.ok(near(change.position_delta.z, -4.905 * (1.5 ** 2 - 1)))
  t.ok(near(change.velocity_delta.z, -9.81 * 0.5))
  t.ok(near(change.speed_delta, 9.81 * 0.5))
  t.ok(near(change.orientation_angle, 1), '2 rad/s for half a second')
  t.same(change.angular_velocity_delta, { x: 0, y: 0, z: 0 })
  t.equal(change.elapsed_time, 0.5)
})

t.test('comparison: bodies touched before and after are told apart', async (t) => {
  const { contact_delta } = compareBody(falling(1, 1, [7, 8]), falling(2, 1.5, [8, 9, 10]))
  t.same(contact_delta, { contacts_a: 4, contacts_b: 6, gained: [9, 10], lost: [7] })
})

t.test('comparison: what a frame lacks is absent from the change', async (t) => {
  const a = falling(1, 1)
  const b: Sighting = {
    state: { ...a.state, angular_velocity: null, velocity: { x: null, y: 0, z: 0 } },
    frame: { ...a.frame, simulation_time: null },
  }
  const change = compareBody(a, b)
  t.match(change, { angular_velocity_delta: null, elapsed_time: null, speed_delta: null })
})

t.test('comparison: in words, with the axis and whether it got faster', async (t) => {
  const [a, b] = [falling(100, 1), falling(150, 1.5, [9])]
  const text = comparisonSummary(2, a, b, compareBody(a, b))
  t.match(text, /^Body 2 moved 6\.131 m \(-6\.131 m in Z\) and turned by 1 rad between frames 100 and 150/)
  t.match(
    text,
    /Velocity changed by 4\.905 m\/s \(-4\.905 m\/s in Z\), faster\. 0 contact points before, 2 after\.$/,
  )
  t.match(comparisonSummary(2, b, a, compareBody(b, a)), /slower/)
})
