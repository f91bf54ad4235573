import type { Collision, Frame, FrictionConstraint, PairFrame, RecordingSummary } from '@causeway/recording'
import t from 'tap'
import {
  contactFrames,
  evolution,
  historySummary,
  type Touch,
  touchOf,
} from '../../src/domain/contact-history.ts'
import { historyEntries, historyPage } from '../../src/domain/contact-listing.ts'
import { newtons } from '../../src/domain/force.ts'
import { checkCone, coneSummary, judgeCones } from '../../src/domain/friction-cone.ts'
import {
  excessive,
  greatestPenetration,
  penetrationOf,
  penetrationSummary,
} from '../../src/domain/penetration.ts'
import { checkResting, restingSummary } from '../../src/domain/resting.ts'

const up = { x: 0, y: 0, z: 1 }
const touch = (frame_id: number, more: Partial<Touch> = {}): Touch => ({
  frame_id,
  friction_rows: 4,
  points: 4,
  normal: up,
  ...more,
})
const range = { start: 1, end: 100 }
const seen = (frames: readonly number[]) =>
  evolution(
    frames.map((frame) => touch(frame)),
    range,
  )
/** The unit vector at this angle to `up`, degrees. */
const leaning = (degrees: number) => ({
  x: Math.sin((degrees * Math.PI) / 180),
  y: 0,
  z: Math.cos((degrees * Math.PI) / 180),
})

t.test('history: contact falls into runs, and each inner edge is a begin or an end', async (t) => {
  const { runs, transitions } = seen([1, 2, 3, 7, 8, 99, 100])
  t.same(runs, [
    { first_frame: 1, last_frame: 3 },
    { first_frame: 7, last_frame: 8 },
    { first_frame: 99, last_frame: 100 },
  ])
  t.same(
    transitions.map(({ frame_id, change }) => `${change} ${frame_id}`),
    ['end 4', 'begin 7', 'end 9', 'begin 99'],
    'what touches the edge of the range may go on beyond it',
  )
})

t.test('history: four begins and ends within 30 frames are chatter, three are not', async (t) => {
  t.match(seen([40, 50, 68]), { chatter: true, peak_transitions: 6 })
  t.match(seen([40, 60]), { chatter: true, peak_transitions: 4 })
  t.match(seen([40, 80]), { chatter: false, peak_transitions: 2 })
  t.match(seen([1, 2, 5, 6]), { chatter: false, peak_transitions: 3 })
})

t.test(
  'history: a normal that turns over is a flip, one that turns by more than 30 degrees a jump',
  async (t) => {
    const frames = [0, 29, 60, 60, 151].map((angle, index) => touch(index + 1, { normal: leaning(angle) }))
    t.match(evolution(frames, range), { normal_flips: [5], normal_jumps: [3] })
    const apart = [touch(1), touch(3, { normal: leaning(180) })]
    t.same(evolution(apart, range).normal_flips, [], 'only neighbours are compared')
    const absent = [touch(1), touch(2, { normal: null }), touch(3)]
    t.same(evolution(absent, range).normal_flips, [])
  },
)

t.test('history: a pair recorded in the other order does not look like a flip', async (t) => {
  const frame = (body_a_id: number, body_b_id: number, z: number): PairFrame => ({
    frame_id: 1,
    simulation_time: 0,
    collision: { body_a_id, body_b_id, normal: { x: 0, y: 0, z }, penetration_depth: 0, contacts: [] },
    friction_constraints: [],
  })
  t.same(touchOf(frame(2, 3, 1), 2).normal, { x: 0, y: 0, z: 1 })
  t.same(touchOf(frame(3, 2, -1), 2).normal, { x: 0, y: 0, z: 1 })
})

t.test('history: changes in the number of contact points are counted', async (t) => {
  const frames = [4, 2, 2, 4].map((friction_rows, index) => touch(index + 1, { friction_rows }))
  t.equal(evolution(frames, range).point_count_changes, 2)
})

t.test('history: friction rows tell of contact, collisions where a pair has none at all', async (t) => {
  const frictionless = [touch(1, { friction_rows: 0 }), touch(2, { friction_rows: 0 })]
  t.match(contactFrames(frictionless), { source: 'collisions', frames: { length: 2 } })
  t.match(contactFrames([...frictionless, touch(3)]), {
    source: 'friction',
    frames: [{ frame_id: 3 }],
    without_rows: 2,
  })
  t.match(contactFrames([]), { source: 'friction', frames: [] })
})

t.test('history: in words', async (t) => {
  const tell = (touches: readonly Touch[], leavesRowsOut = false): string => {
    const contact = contactFrames(touches)
    return historySummary([2, 3], contact, {
      seen: evolution(contact.frames, range),
      part: { frames: contact.frames.slice(0, 3), leavesRowsOut },
    })
  }
  t.equal(tell([]), 'No contact between bodies 2 and 3 in this range.')
  t.match(tell([touch(1, { friction_rows: 0 })]), /no friction rows/)
  t.match(tell([touch(1), touch(2, { friction_rows: 0 })]), /without friction rows in 1 more frame/)
  const turning = [touch(1), touch(2, { normal: leaning(60) }), touch(3, { normal: leaning(200) })]
  t.match(tell(turning), /flips in 1 frame \(3\).*30 degrees in 1 frame \(2\)/)
  t.match(tell([touch(1)], true), /without their rows/)
  t.match(tell([1, 2, 3, 4].map((frame) => touch(frame))), /3 frames listed; next_cursor/)
})

t.test('listing: rows are left out where they would fill the answer', async (t) => {
  const frames = Array.from({ length: 60 }, (_, index) => touch(index + 1))
  const recorded = frames.map(({ frame_id }): PairFrame => {
    const row = { normal_lambda: frame_id } as PairFrame['friction_constraints'][number]
    return { frame_id, simulation_time: 0, collision: null, friction_constraints: [row, row] }
  })
  const long = historyPage(frames, { cursor: undefined, limit: 200 })
  t.ok(long.leavesRowsOut)
  t.match(historyEntries(long, recorded)[6], { num_contacts: 4, normal_lambda: 14, contacts: [] })
  const short = historyPage(frames, { cursor: undefined, limit: 10 })
  t.match(short, { leavesRowsOut: false, next_cursor: 'at-11' })
  t.equal(historyEntries(short, recorded).length, 10)
  t.equal(historyEntries(short, recorded)[0]?.contacts.length, 2)
})

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

const collision = (penetration_depth: number | null, depths: readonly (number | null)[] = []): Collision =>
  ({
    body_a_id: 2,
    body_b_id: 3,
    normal: { x: 0, y: 0, z: 1 },
    penetration_depth,
    contacts: depths.map((depth) => ({ depth })),
  }) as unknown as Collision

t.test('penetration: a pair exactly as deep as the threshold is not excessive', async (t) => {
  const pairs = [0.01, 0.0101, 0.5].map((depth) => penetrationOf(collision(depth)))
  t.same(
    excessive(pairs, 0.01).map((one) => one.penetration_depth),
    [0.0101, 0.5],
  )
  t.match(penetrationSummary(pairs, 0.01), /2 collisions of 3.*deepest is 0\.5 m between bodies 2 and 3/)
})

t.test('penetration: the deepest point counts where the pair has no depth of its own', async (t) => {
  const pair = penetrationOf(collision(null, [0.1, null, 0.3]))
  t.match(pair, { penetration_depth: 0.3, max_point_depth: 0.3 })
})

t.test(
  'penetration: the greatest depths of pairs and points stand apart, and are absent where nothing overlaps',
  async (t) => {
    t.same(greatestPenetration([penetrationOf(collision(0.1, [0.2]))]), {
      max_penetration_depth: 0.1,
      max_point_depth: 0.2,
    })
    t.same(greatestPenetration([]), { max_penetration_depth: null, max_point_depth: null })
    t.match(penetrationSummary([], 0.01), /0 collisions of 0/)
    t.match(penetrationSummary([penetrationOf(collision(0.001))], 0.01), /the deepest is 0\.001 m/)
  },
)

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

t.test('newtons: an impulse is divided by its step, a force is taken as it is', async (t) => {
  const [mass, g, dt] = [10, 9.81, 0.016]
  t.ok(Math.abs((newtons(mass * g * dt, { unit: 'N·s', dt }) ?? 0) - mass * g) < 1e-12)
  t.equal(newtons(98.1, { unit: 'N', dt }), 98.1)
})

t.test('newtons: nothing is made up where the unit, the step or the value is unknown', async (t) => {
  t.equal(newtons(1, { unit: 'unknown', dt: 0.016 }), null)
  t.equal(newtons(1, { unit: 'N·s', dt: null }), null)
  t.equal(newtons(1, { unit: 'N·s', dt: 0 }), null)
  t.equal(newtons(null, { unit: 'N', dt: null }), null)
})
