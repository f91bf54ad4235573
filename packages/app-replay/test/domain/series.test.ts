import type { BodyState, Columns, Frame, SolverField, SystemEnergyField } from '@causeway/recording'
import t from 'tap'
import {
  type BodyInFrame,
  compareBody,
  summarizeComparison,
} from '../../src/domain/bodies/body-comparison.ts'
import {
  attributeEnergyStep,
  countKinds,
  findEnergySteps,
  listBaselineFrames,
  sumEnergyChanges,
  summarizeAnomalies,
  toAnomalies,
} from '../../src/domain/frames/energy-anomaly.ts'
import { resolveFrameRange } from '../../src/domain/frames/frame-range.ts'
import { toPoints } from '../../src/domain/series/columns.ts'
import { selectSeriesPart, summarizeSeries } from '../../src/domain/series/series.ts'
import { judgeConvergence, summarizeConvergence } from '../../src/domain/steps/convergence.ts'
import { dot, getRotationAngle, negate, norm, splitAlong, subtract } from '../../src/domain/vector.ts'

function series(values: readonly number[]): Columns<'frame_id' | 'e'> {
  const data = Float64Array.from(values.flatMap((value, index) => [index + 1, value]))
  return { fields: ['frame_id', 'e'], length: values.length, data }
}

const whole = { cursor: undefined, limit: 10 }

t.test('selectSeriesPart returns all rows of a short series', async (t) => {
  const part = selectSeriesPart(series([1, 2, 3]), 'e', whole)
  t.match(part, { rows: [0, 1, 2], bucketed: false, truncated: false, next_cursor: null })
})

t.test('selectSeriesPart preserves the ends and the extremes of a long series', async (t) => {
  const values = Array.from({ length: 1000 }, (_, i) => Math.sin(i / 50))
  values[517] = 40
  values[518] = -40
  const part = selectSeriesPart(series(values), 'e', whole)
  t.ok(part.rows.length <= 10)
  t.same([part.rows[0], part.rows.at(-1)], [0, 999])
  t.ok([517, 518].every((row) => part.rows.includes(row)))
  t.match(part, { bucketed: true, truncated: true, start_frame: 1, end_frame: 1000 })
  t.same(
    [...part.rows].sort((a, b) => a - b),
    part.rows,
  )
})

t.test('computeTotals ignores NaN but counts it', async (t) => {
  const { totals } = selectSeriesPart(series([5, Number.NaN, -1, 2]), 'e', whole)
  t.same(totals, {
    count: 4,
    nonfinite: 1,
    min: -1,
    min_frame: 3,
    max: 5,
    max_frame: 1,
    first: 5,
    last: 2,
    mean: 2,
    drift: -3,
  })
})

t.test('the mean of values near the largest double is finite', async (t) => {
  const { totals } = selectSeriesPart(series([1.5e308, 1.5e308, 1.5e308]), 'e', whole)
  t.ok(Math.abs((totals.mean ?? 0) / 1.5e308 - 1) < 1e-12)
})

t.test('paging by cursor returns every row exactly once', async (t) => {
  const all = series(Array.from({ length: 25 }, (_, i) => i))
  const seen: number[] = []
  let cursor = selectSeriesPart(all, 'e', whole).next_cursor
  while (cursor !== null) {
    const part = selectSeriesPart(all, 'e', { cursor, limit: 10 })
    t.equal(part.bucketed, false)
    seen.push(...part.rows)
    cursor = part.next_cursor
  }
  t.same(
    seen,
    Array.from({ length: 25 }, (_, i) => i),
  )
  t.throws(() => selectSeriesPart(all, 'e', { cursor: 'frame 3', limit: 10 }), { code: 'INVALID_CURSOR' })
})

t.test('a row without a number is selected as a peak', async (t) => {
  const values = Array.from({ length: 100 }, () => 1)
  values[42] = Number.NaN
  t.ok(selectSeriesPart(series(values), 'e', whole).rows.includes(42))
})

t.test('summarizeSeries reports empty series and missing values', async (t) => {
  const words = (values: readonly number[]): string => {
    const { rows, ...part } = selectSeriesPart(series(values), 'e', whole)
    return summarizeSeries('point', '', rows.length, part)
  }
  t.match(words([]), /no frames/)
  t.match(words([1, Number.NaN]), /1 frame without a finite value/)
  t.match(words(Array.from({ length: 20 }, () => 1)), /bucket/)
})

t.test('toPoints replaces NaN and infinity with null, and flags with booleans', async (t) => {
  const data = Float64Array.of(1, Number.NaN, 1, 2, Number.POSITIVE_INFINITY, 0)
  const columns: Columns<'frame_id' | 'e' | 'hit'> = { fields: ['frame_id', 'e', 'hit'], length: 2, data }
  t.same(toPoints(columns, [0, 1], ['hit']), [
    { frame_id: 1, e: null, hit: true },
    { frame_id: 2, e: null, hit: false },
  ])
})

const fields = [
  'frame_id',
  'simulation_time',
  'total_system_e',
  'delta_e',
  'energy_injection',
  'collision_active',
] as const

/** Returns frames 1 to n with these total energies in J. Bodies touch in the frames of `contact`. */
function energy(totals: readonly number[], contact: readonly number[] = []): Columns<SystemEnergyField> {
  const rows = totals.flatMap((total, index) => {
    const frame = index + 1
    const delta = total - (totals[index - 1] ?? 0)
    return [frame, frame * 0.01, total, delta, delta > 0 ? 1 : 0, contact.includes(frame) ? 1 : 0]
  })
  return { fields, length: totals.length, data: Float64Array.from(rows) }
}

const baselines = new Set([1])

t.test('findEnergySteps classifies each step', async (t) => {
  const totals = energy([100, 90, 70, 75, 75], [3])
  const found = toAnomalies(totals, findEnergySteps(totals, { threshold: 4, baselines }))
  t.match(found[2], {
    simulation_time: 0.03,
    total_system_e: 70,
    collision_active: true,
    energy_injection: false,
  })
  t.same(
    found.map(({ frame_id, kind, delta_e, since_frame }) => [frame_id, kind, delta_e, since_frame]),
    [
      [1, 'baseline', 100, null],
      [2, 'dissipation_without_contact', -10, 1],
      [3, 'impact_loss', -20, 2],
      [4, 'injection', 5, 3],
    ],
  )
})

t.test('a step exactly at the threshold is not an anomaly', async (t) => {
  t.same(
    findEnergySteps(energy([0, 4, 8.5]), { threshold: 4, baselines }).map((one) => one.frame_id),
    [3],
  )
})

t.test('an undefined energy is an anomaly at any threshold', async (t) => {
  const found = findEnergySteps(energy([10, Number.NaN, 10]), { threshold: 1e300, baselines })
  t.same(
    found.map(({ frame_id, kind, delta_e }) => [frame_id, kind, delta_e]),
    [
      [2, 'nonfinite', null],
      [3, 'nonfinite', null],
    ],
  )
})

t.test('the step in which a body appears is a baseline', async (t) => {
  const summary = {
    frames: { first_frame: 1, last_frame: 3, total_frames: 3, contiguous: true },
    appearances: [
      { body_id: 2, first_frame: 1 },
      { body_id: 3, first_frame: 2 },
    ],
  }
  const spawned = listBaselineFrames(summary as never)
  const found = findEnergySteps(energy([10, 60, 60]), { threshold: 1, baselines: spawned })
  t.same(countKinds(found), {
    baseline: 2,
    injection: 0,
    dissipation_without_contact: 0,
    impact_loss: 0,
    nonfinite: 0,
  })
  t.match(summarizeAnomalies(found, 1, 2), /^No anomalies .* 2 baseline steps/)
})

t.test('sumEnergyChanges adds up many small gains, each below the threshold', async (t) => {
  const creeping = energy(Array.from({ length: 1001 }, (_, i) => 5 + i * 0.01))
  t.same(findEnergySteps(creeping, { threshold: 1, baselines }).length, 1)
  const { injected_e, lost_e } = sumEnergyChanges(creeping, baselines)
  t.ok(Math.abs(injected_e - 10) < 1e-9)
  t.equal(lost_e, 0)
})

t.test('energies of a diverged run are formatted with an exponent', async (t) => {
  const found = findEnergySteps(energy([1, 2e195, -1e195]), { threshold: 1, baselines })
  t.match(
    summarizeAnomalies(found, 1, 1),
    /largest: 2e195 J in frame 2.*largest: -3e195 J in frame 3.*1 listed; next_cursor/,
  )
})

t.test('attributeEnergyStep sorts bodies by their change and names the pairs in contact', async (t) => {
  const row = (body_id: number, total_e: number | null) => ({ body_id, total_e })
  const collisions = [{ body_a_id: 2, body_b_id: 9 }]
  const frame = (rows: readonly object[]): Frame =>
    ({ body_energies: rows, collisions, friction_constraints: [] }) as unknown as Frame
  const before = frame([row(1, 10), row(2, 10), row(3, 10), row(4, 10)])
  const after = frame([row(1, 10.5), row(2, -5), row(3, null), row(4, 10), row(5, 7)])
  t.same(attributeEnergyStep(after, before), {
    per_body: [
      { body_id: 3, delta_e: null },
      { body_id: 2, delta_e: -15 },
      { body_id: 5, delta_e: 7 },
    ],
    pairs: collisions,
  })
  t.same(attributeEnergyStep(after, null, 1).per_body, [{ body_id: 3, delta_e: null }])
})

/** Returns frames 1 to n from rows `[iterations, residual, converged, constraints]`. */
function solver(rows: readonly (readonly [number, number, number, number])[]): Columns<SolverField> {
  const fields = ['frame_id', 'iterations', 'residual', 'converged', 'num_constraints'] as const
  const data = Float64Array.from(rows.flatMap((row, index) => [index + 1, ...row]))
  return { fields, length: rows.length, data }
}

t.test('convergence is judged only in frames with constraints', async (t) => {
  const verdict = judgeConvergence(
    solver([
      [0, 0, 0, 0],
      [7, 1e98, 0, 8],
      [3, 1e-9, 1, 8],
    ]),
  )
  t.same(verdict, {
    converged_judged: 2,
    not_converged: [2],
    max_iterations: 7,
    max_residual: 1e98,
    max_residual_frame: 2,
  })
  t.match(
    summarizeConvergence('3 frames', verdict),
    /3 frames, 2 of them .*not converged in 1 \(2\).* 1e98 in frame 2/,
  )
})

t.test('convergence is not judged in free flight', async (t) => {
  const verdict = judgeConvergence(solver([[0, 0, 0, 0]]))
  t.match(summarizeConvergence('1 frame', verdict), /nothing to solve/)
})

const absent = { x: 1, y: null, z: 1 }
const unit = { x: 0, y: 0, z: 1 }
const turn = (angle: number) => ({ w: Math.cos(angle / 2), x: 0, y: Math.sin(angle / 2), z: 0 })
const still = { w: 1, x: 0, y: 0, z: 0 }

t.test('a missing component makes a vector result null', async (t) => {
  t.equal(norm(absent), null)
  t.equal(dot(absent, unit), null)
  t.equal(dot(unit, absent), null)
  t.same(subtract(absent, unit), { x: 1, y: null, z: 0 })
  t.same(splitAlong(absent, unit), { along: null, across: null })
  t.equal(getRotationAngle({ ...still, w: null }, still), null)
  t.equal(getRotationAngle(still, { ...still, z: null }), null)
})

t.test('lengths of a diverged run do not overflow', async (t) => {
  t.equal(norm({ x: 3e195, y: 0, z: -4e195 }), 5e195)
})

t.test('splitAlong splits a velocity into parts along and across a normal', async (t) => {
  t.same(splitAlong({ x: 3, y: 4, z: -2 }, unit), { along: -2, across: 5 })
  t.same(negate({ x: 1, y: -2, z: 0 }), { x: -1, y: 2, z: 0 })
})

t.test('getRotationAngle is exact for small angles and treats q and -q as equal', async (t) => {
  const near = (a: number | null, b: number): boolean => a !== null && Math.abs(a - b) <= 1e-12 * b
  for (const angle of [1e-9, 0.1, 1, 3])
    t.ok(near(getRotationAngle(still, turn(angle)), angle), `${angle} rad`)
  const { w, x, y, z } = turn(1)
  t.ok(near(getRotationAngle(still, { w: -w, x: -x, y: -y, z: -z }), 1))
  t.ok(near(getRotationAngle(turn(0.5), turn(2)), 1.5))
  t.equal(getRotationAngle(still, still), 0)
})

const frames = { first_frame: 1, last_frame: 100, total_frames: 100, contiguous: true }

t.test('open bounds become the first and last frame, and other bounds are clamped to them', async (t) => {
  t.same(resolveFrameRange({}, frames), { start: 1, end: 100 })
  t.same(resolveFrameRange({ start_frame: null, end_frame: null }, frames), { start: 1, end: 100 })
  t.same(resolveFrameRange({ start_frame: 0, end_frame: 1000 }, frames), { start: 1, end: 100 })
  t.same(resolveFrameRange({ start_frame: 7, end_frame: 7 }, frames), { start: 7, end: 7 })
})

t.test('a range that is outside or reversed is rejected', async (t) => {
  t.throws(() => resolveFrameRange({ start_frame: 101 }, frames), {
    code: 'FRAME_NOT_FOUND',
    data: { first_frame: 1, last_frame: 100 },
  })
  t.throws(() => resolveFrameRange({ start_frame: 9, end_frame: 3 }, frames), { code: 'INVALID_ARGUMENTS' })
})

t.test('a recording of 0 frames accepts only the open range', async (t) => {
  t.same(resolveFrameRange({}, null), { start: null, end: null })
  t.throws(() => resolveFrameRange({ start_frame: 1 }, null), { code: 'FRAME_NOT_FOUND' })
})

/** A body in free fall from rest at 100 m, which spins about z at 2 rad/s, after `time` seconds. */
function falling(frame_id: number, time: number, contacts: readonly number[] = []): BodyInFrame {
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

t.test('compareBody matches the closed form for free fall', async (t) => {
  const change = compareBody(falling(100, 1), falling(150, 1.5))
  t.ok(near(change.position_delta.z, -4.905 * (1.5 ** 2 - 1)))
  t.ok(near(change.velocity_delta.z, -9.81 * 0.5))
  t.ok(near(change.speed_delta, 9.81 * 0.5))
  t.ok(near(change.orientation_angle, 1), '2 rad/s for half a second')
  t.same(change.angular_velocity_delta, { x: 0, y: 0, z: 0 })
  t.equal(change.elapsed_time, 0.5)
})

t.test('compareBody lists gained and lost contacts', async (t) => {
  const { contact_delta } = compareBody(falling(1, 1, [7, 8]), falling(2, 1.5, [8, 9, 10]))
  t.same(contact_delta, { contacts_a: 4, contacts_b: 6, gained: [9, 10], lost: [7] })
})

t.test('compareBody returns null for data that a frame lacks', async (t) => {
  const a = falling(1, 1)
  const b: BodyInFrame = {
    state: { ...a.state, angular_velocity: null, velocity: { x: null, y: 0, z: 0 } },
    frame: { ...a.frame, simulation_time: null },
  }
  const change = compareBody(a, b)
  t.match(change, { angular_velocity_delta: null, elapsed_time: null, speed_delta: null })
})

t.test('summarizeComparison names the axis and the trend', async (t) => {
  const [a, b] = [falling(100, 1), falling(150, 1.5, [9])]
  const text = summarizeComparison('Body 2', { a, b }, compareBody(a, b))
  t.match(text, /^Body 2 moved 6\.131 m \(-6\.131 m in Z\) and turned by 1 rad between frames 100 and 150/)
  t.match(
    text,
    /Velocity changed by 4\.905 m\/s \(-4\.905 m\/s in Z\), faster\. 0 contact points before, 2 after\.$/,
  )
  t.match(summarizeComparison('Body 2', { a: b, b: a }, compareBody(b, a)), /slower/)
})
