import type { Collision, Frame, FrictionConstraint, PairFrame, RecordingSummary } from '@causeway/recording'
import t from 'tap'
import {
  analyzeEvolution,
  type PairContact,
  selectContactFrames,
  summarizeHistory,
  toPairContact,
} from '../../src/domain/contacts/contact-history.ts'
import { paginateHistory, toHistoryEntries } from '../../src/domain/contacts/contact-listing.ts'
import { toNewtons } from '../../src/domain/contacts/force.ts'
import { checkCone, judgeCones, summarizeCones } from '../../src/domain/contacts/friction-cone.ts'
import {
  filterExcessivePenetrations,
  findMaxPenetration,
  summarizePenetrations,
  toPenetration,
} from '../../src/domain/contacts/penetration.ts'
import { checkResting, summarizeResting } from '../../src/domain/contacts/resting.ts'
import { chatterLaw } from '../../src/domain/laws/contact/chatter-law.ts'
import { normalLaw } from '../../src/domain/laws/contact/normal-law.ts'
import { reactionLaw } from '../../src/domain/laws/contact/reaction-law.ts'
import { runLaw, type SceneContact, type SceneSpec, dt as step } from './law-kit.ts'

const up = { x: 0, y: 0, z: 1 }
const touch = (frame_id: number, more: Partial<PairContact> = {}): PairContact => ({
  frame_id,
  friction_rows: 4,
  points: 4,
  normal: up,
  ...more,
})
const range = { start: 1, end: 100 }
const seen = (frames: readonly number[]) =>
  analyzeEvolution(
    frames.map((frame) => touch(frame)),
    range,
  )
/** Returns a unit vector at an angle to `up`, in degrees. */
const leaning = (degrees: number) => ({
  x: Math.sin((degrees * Math.PI) / 180),
  y: 0,
  z: Math.cos((degrees * Math.PI) / 180),
})

t.test('analyzeEvolution splits contacts into runs and lists where they begin and end', async (t) => {
  const { runs, transitions } = seen([1, 2, 3, 7, 8, 99, 100])
  t.same(runs, [
    { first_frame: 1, last_frame: 3 },
    { first_frame: 7, last_frame: 8 },
    { first_frame: 99, last_frame: 100 },
  ])
  t.same(
    transitions.map(({ frame_id, change }) => `${change} ${frame_id}`),
    ['end 4', 'begin 7', 'end 9', 'begin 99'],
    'contact at the edge of the range may continue beyond it',
  )
})

t.test('four transitions within 30 frames are chatter, three are not', async (t) => {
  t.match(seen([40, 50, 68]), { chatter: true, peak_transitions: 6 })
  t.match(seen([40, 60]), { chatter: true, peak_transitions: 4 })
  t.match(seen([40, 80]), { chatter: false, peak_transitions: 2 })
  t.match(seen([1, 2, 5, 6]), { chatter: false, peak_transitions: 3 })
})

t.test('a normal that turns by over 90 degrees is a flip, by over 30 degrees a jump', async (t) => {
  const frames = [0, 29, 60, 60, 151].map((angle, index) => touch(index + 1, { normal: leaning(angle) }))
  t.match(analyzeEvolution(frames, range), { normal_flips: [5], normal_jumps: [3] })
  const apart = [touch(1), touch(3, { normal: leaning(180) })]
  t.same(analyzeEvolution(apart, range).normal_flips, [], 'only consecutive frames are compared')
  const absent = [touch(1), touch(2, { normal: null }), touch(3)]
  t.same(analyzeEvolution(absent, range).normal_flips, [])
})

t.test('toPairContact orients the normal from the requested body, in either recorded order', async (t) => {
  const frame = (body_a_id: number, body_b_id: number, z: number): PairFrame => ({
    frame_id: 1,
    simulation_time: 0,
    collision: { body_a_id, body_b_id, normal: { x: 0, y: 0, z }, penetration_depth: 0, contacts: [] },
    friction_constraints: [],
  })
  t.same(toPairContact(frame(2, 3, 1), 2).normal, { x: 0, y: 0, z: 1 })
  t.same(toPairContact(frame(3, 2, -1), 2).normal, { x: 0, y: 0, z: 1 })
})

t.test('changes in the number of contact points are counted', async (t) => {
  const frames = [4, 2, 2, 4].map((friction_rows, index) => touch(index + 1, { friction_rows }))
  t.equal(analyzeEvolution(frames, range).point_count_changes, 2)
})

t.test('collisions count as contact if a pair never has friction rows', async (t) => {
  const frictionless = [touch(1, { friction_rows: 0 }), touch(2, { friction_rows: 0 })]
  t.match(selectContactFrames(frictionless), { source: 'collisions', frames: { length: 2 } })
  t.match(selectContactFrames([...frictionless, touch(3)]), {
    source: 'friction',
    frames: [{ frame_id: 3 }],
    without_rows: 2,
  })
  t.match(selectContactFrames([]), { source: 'friction', frames: [] })
})

t.test('summarizeHistory describes runs, chatter, flips and omitted rows', async (t) => {
  const summarize = (touches: readonly PairContact[], omitsRows = false): string => {
    const contact = selectContactFrames(touches)
    return summarizeHistory([2, 3], contact, {
      names: {},
      evolution: analyzeEvolution(contact.frames, range),
      page: { frames: contact.frames.slice(0, 3), omitsRows },
    })
  }
  t.equal(summarize([]), 'No contact between body 2 and body 3 in this range.')
  t.match(summarize([touch(1, { friction_rows: 0 })]), /no friction rows/)
  t.match(summarize([touch(1), touch(2, { friction_rows: 0 })]), /without friction rows in 1 more frame/)
  const turning = [touch(1), touch(2, { normal: leaning(60) }), touch(3, { normal: leaning(200) })]
  t.match(summarize(turning), /flips in 1 frame \(3\).*30 degrees in 1 frame \(2\)/)
  t.match(summarize([touch(1)], true), /without their rows/)
  t.match(summarize([1, 2, 3, 4].map((frame) => touch(frame))), /3 frames listed; next_cursor/)
})

t.test('rows are omitted if there are too many', async (t) => {
  const frames = Array.from({ length: 60 }, (_, index) => touch(index + 1))
  const recorded = frames.map(({ frame_id }): PairFrame => {
    const row = { normal_lambda: frame_id } as PairFrame['friction_constraints'][number]
    return { frame_id, simulation_time: 0, collision: null, friction_constraints: [row, row] }
  })
  const long = paginateHistory(frames, { cursor: undefined, limit: 200 })
  t.ok(long.omitsRows)
  t.match(toHistoryEntries(long, recorded)[6], { num_contacts: 4, normal_lambda: 14, contacts: [] })
  const short = paginateHistory(frames, { cursor: undefined, limit: 10 })
  t.match(short, { omitsRows: false, next_cursor: 'at-11' })
  t.equal(toHistoryEntries(short, recorded).length, 10)
  t.equal(toHistoryEntries(short, recorded)[0]?.contacts.length, 2)
})

const zero = { x: 0, y: 0, z: 0 }
const newton = { unit: 'N', dt: null } as const

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

const describe = (rows: readonly Partial<FrictionConstraint>[], withoutFriction = 0): string => {
  const checks = rows.map((row) => checkCone(contact(row), newton))
  return summarizeCones(checks, judgeCones(checks), {
    withoutFriction,
    summary: { bodies: [], geometry: [] },
  })
}

t.test('the worked example of the original design is at the friction limit', async (t) => {
  const check = checkCone(contact({ tangent1_lambda: 49.04, tangent2_lambda: 0.12 }), newton)
  const total = Math.sqrt(49.04 ** 2 + 0.12 ** 2)
  t.match(check, { normal_force: 98.1, friction_limit: 49.05, exceeds_limit: false, normal_force_n: 98.1 })
  t.ok(Math.abs((check.total_tangent_force ?? 0) - total) < 1e-12)
  t.ok(Math.abs((check.margin ?? 0) - (49.05 - total)) < 1e-12)
  t.ok(Math.abs((check.utilization ?? 0) - total / 49.05) < 1e-12)
  t.equal(
    describe([{ tangent1_lambda: 49.04, tangent2_lambda: 0.12 }]),
    '1 contact checked. 0 violations detected. Body 1 is at friction limit (99.98% of mu*Fn).',
  )
})

t.test('checkCone tolerates an excess of 1 %', async (t) => {
  const exceeds = (share: number) =>
    checkCone(contact({ tangent1_lambda: 49.05 * share }), newton).exceeds_limit
  t.same([0.999, 1.009, 1.011].map(exceeds), [false, false, true])
})

t.test('noise with a normal force of 0 exceeds the plain limit, but not the strict one', async (t) => {
  const noise = { normal_lambda: 0, tangent1_lambda: 2e-8 }
  const real = { normal_lambda: 0, tangent1_lambda: 0.6 }
  t.match(checkCone(contact(noise), newton), { exceeds_limit: true, exceeds_limit_strict: false })
  t.match(checkCone(contact(real), newton), {
    exceeds_limit: true,
    exceeds_limit_strict: true,
    utilization: null,
    margin: -0.6,
  })
  t.equal(describe([noise]), '1 contact checked. 1 violation detected (1 within noise of 1e-6).')
  t.match(describe([noise, real]), /Body 1 exceeds the friction limit \(tangent force without normal force\)/)
})

t.test('contacts with missing values are counted but not judged', async (t) => {
  const checks = [null, 0].map((tangent1_lambda) => checkCone(contact({ tangent1_lambda }), newton))
  t.match(checks[0], {
    exceeds_limit: null,
    exceeds_limit_strict: null,
    margin: null,
    total_tangent_force: null,
  })
  t.match(judgeCones(checks), { violation_count: 0, unjudged_count: 1 })
  t.match(describe([{ normal_lambda: null }]), /1 contact without values not judged/)
})

t.test('judgeCones returns the index of a violation, and summaries omit the environment', async (t) => {
  const floor = 2147483650
  const rows = [{}, { body_a_id: floor, body_b_id: 7, tangent1_lambda: 98.1 }]
  const checks = rows.map((row) => checkCone(contact(row), newton))
  t.same(judgeCones(checks).exceeding, [{ index: 1, body_a_id: floor, body_b_id: 7, utilization: 2 }])
  t.match(describe(rows), /Body 7 exceeds the friction limit \(200.00% of mu\*Fn\)/)
})

t.test('summarizeCones counts pairs without friction rows', async (t) => {
  t.match(describe([], 2), /0 contacts checked.*2 pairs collide without friction rows/)
})

t.test('impulses of a diverged solver do not overflow', async (t) => {
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

t.test('a pair exactly at the threshold is not excessive', async (t) => {
  const pairs = [0.01, 0.0101, 0.5].map((depth) => toPenetration(collision(depth)))
  t.same(
    filterExcessivePenetrations(pairs, 0.01).map((one) => one.penetration_depth),
    [0.0101, 0.5],
  )
  t.match(
    summarizePenetrations(pairs, 0.01, {}),
    /2 collisions of 3.*deepest is 0\.5 m between body 2 and body 3/,
  )
})

t.test('a pair without a depth gets that of its deepest point', async (t) => {
  const pair = toPenetration(collision(null, [0.1, null, 0.3]))
  t.match(pair, { penetration_depth: 0.3, max_point_depth: 0.3 })
})

t.test('maximum depths of pairs and of points are separate, and null without overlap', async (t) => {
  t.same(findMaxPenetration([toPenetration(collision(0.1, [0.2]))]), {
    max_penetration_depth: 0.1,
    max_point_depth: 0.2,
  })
  t.same(findMaxPenetration([]), { max_penetration_depth: null, max_point_depth: null })
  t.match(summarizePenetrations([], 0.01, {}), /0 collisions of 0/)
  t.match(summarizePenetrations([toPenetration(collision(0.001))], 0.01, {}), /the deepest is 0\.001 m/)
})

const [g, dt] = [9.81, 0.016]
const floor = 2147483649
const summary = { gravity_m_s2: { x: 0, y: 0, z: -g }, dt_s: dt, bodies: [] } as unknown as RecordingSummary
const rule = { velocity: 0.01, angularVelocity: 0.01 }

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

t.test('a resting body with a recorded speed of g*dt is reported as likely at rest', async (t) => {
  const check = checkResting(frame({ x: 0, y: 0, z: -g * dt }, still), summary, rule)
  t.match(check, { bodies_in_contact: 1, environment_in_contact: 1, source: 'friction' })
  t.match(check.moving_bodies, [{ body_id: 2, likely_at_rest: true, sliding_speed: 0 }])
  t.match(
    summarizeResting(check, rule, {}),
    /^1 of 1 body in contact moves \(.*Likely at rest: body 2, whose speed equals g\*dt = 0\.157 m\/s/,
  )
})

t.test('a body that spins or slides is never likely at rest', async (t) => {
  const spinning = checkResting(frame({ x: 0, y: 0, z: -g * dt }, { x: 0, y: 0, z: 1 }), summary, rule)
  t.match(spinning.moving_bodies, [{ likely_at_rest: false, angular_velocity_magnitude: 1 }])
  const sliding = checkResting(frame({ x: 0.3, y: 0.4, z: 0 }, still), summary, rule)
  t.match(sliding.moving_bodies, [{ likely_at_rest: false, sliding_speed: 0.5, normal_speed: 0 }])
  t.match(summarizeResting(sliding, rule, {}), /Sliding along the contact: body 2/)
})

t.test('a speed at the threshold counts as rest, and bodies without contact are ignored', async (t) => {
  t.same(checkResting(frame({ x: 0.01, y: 0, z: 0 }, null), summary, rule).moving_bodies, [])
})

t.test('a body with an undefined velocity counts as moving', async (t) => {
  const check = checkResting(frame({ x: null, y: 0, z: 0 }, null), summary, rule)
  t.match(check.moving_bodies, [{ velocity_magnitude: null, likely_at_rest: false }])
})

t.test('without friction rows, collisions count as contact', async (t) => {
  const check = checkResting(frame(still, still, true), summary, rule)
  t.match(check, { source: 'collisions', bodies_in_contact: 1, moving_bodies: [] })
  t.match(summarizeResting(check, rule, {}), /No friction rows/)
})

t.test('g*dt is not mentioned if gravity is unknown', async (t) => {
  const unknown = { ...summary, gravity_m_s2: null } as RecordingSummary
  const check = checkResting(frame({ x: 0, y: 0, z: -g * dt }, still), unknown, rule)
  t.match(check, { rest_speed: null, moving_bodies: [{ likely_at_rest: false }] })
})

t.test('in eras without bit 31, the metadata mark the environment', async (t) => {
  const bodies = [
    { body_id: floor, is_environment: true },
    { body_id: 2, is_environment: true },
  ]
  const check = checkResting(frame(still, still), { ...summary, bodies } as unknown as RecordingSummary, rule)
  t.match(check, { bodies_in_contact: 0, environment_in_contact: 2 })
})

t.test('toNewtons divides impulses by the step and returns forces unchanged', async (t) => {
  const [mass, g, dt] = [10, 9.81, 0.016]
  t.ok(Math.abs((toNewtons(mass * g * dt, { unit: 'N·s', dt }) ?? 0) - mass * g) < 1e-12)
  t.equal(toNewtons(98.1, { unit: 'N', dt }), 98.1)
})

t.test('toNewtons returns null if the unit, the step or the value is unknown', async (t) => {
  t.equal(toNewtons(1, { unit: 'unknown', dt: 0.016 }), null)
  t.equal(toNewtons(1, { unit: 'N·s', dt: null }), null)
  t.equal(toNewtons(1, { unit: 'N·s', dt: 0 }), null)
  t.equal(toNewtons(null, { unit: 'N', dt: null }), null)
})

t.test('a heavy body that lands on the floor and under a light one does not react unequally', async (t) => {
  // The impulse of the floor has an error of 1 %, which is more than the whole impulse of the light body.
  const landing = (error: number): SceneSpec => ({
    ...{ frames: 30, masses: [1000, 1] },
    state: (frame) => ({ velocity: [0, 0, frame < 20 ? -g * frame * step : 0] }),
    touches: (frame) => {
      const push = (frame === 20 ? 20 : 1) * g * step
      return frame < 20 ? [] : [{ n: 1001 * push * (1 + error) }, { a: 2, b: 1, n: push }]
    },
  })
  t.same(runLaw(reactionLaw(), landing(0.01)), [])
  t.same(runLaw(reactionLaw(), landing(0)), [])
})

t.test('the laws of contacts do not judge the step of a reset', async (t) => {
  // All bodies have their first states in every sixth frame.
  const repeated = (touch: (phase: number) => readonly SceneContact[]): SceneSpec => ({
    ...{ frames: 40, masses: [1] },
    state: (frame) => ({ position: [0.1 * ((frame - 1) % 6), 0, 0] }),
    touches: (frame) => touch((frame - 1) % 6),
  })
  const lost = (...phases: readonly number[]) =>
    runLaw(
      chatterLaw(),
      repeated((phase) => (phases.includes(phase) ? [] : [{}])),
    )
  t.same([lost(4, 5), lost(0, 1), lost(5, 0)], [[], [], []])
  t.match(lost(2, 3), [{ kind: 'contact_chatter' }])
  const turned = repeated((phase) => [{ normal: [Math.sin(phase / 5), 0, -Math.cos(phase / 5)] }])
  t.same(runLaw(normalLaw(), turned), [])
})
