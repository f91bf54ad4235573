import type { PairFrame } from '@causeway/recording'
import t from 'tap'
import {
  contactFrames,
  evolution,
  historySummary,
  type Touch,
  touchOf,
} from '../../src/domain/contact-history.ts'
import { historyEntries, historyPage } from '../../src/domain/contact-listing.ts'

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
