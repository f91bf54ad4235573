import type { Columns, Frame, SystemEnergyField } from '@causeway/recording'
import t from 'tap'
import {
  anomaliesOf,
  anomalySummary,
  attribute,
  baselineFrames,
  countKinds,
  energyBudget,
  findSteps,
} from '../../src/domain/energy-anomaly.ts'

const fields = [
  'frame_id',
  'simulation_time',
  'total_system_e',
  'delta_e',
  'energy_injection',
  'collision_active',
] as const

/** Frames 1..n of these total energies, J; bodies touch in the frames of `contact`. */
function energy(totals: readonly number[], contact: readonly number[] = []): Columns<SystemEnergyField> {
  const rows = totals.flatMap((total, index) => {
    const frame = index + 1
    const delta = total - (totals[index - 1] ?? 0)
    return [frame, frame * 0.01, total, delta, delta > 0 ? 1 : 0, contact.includes(frame) ? 1 : 0]
  })
  return { fields, length: totals.length, data: Float64Array.from(rows) }
}

const baselines = new Set([1])

t.test('anomalies: each step has the kind that tells what it means', async (t) => {
  const totals = energy([100, 90, 70, 75, 75], [3])
  const found = anomaliesOf(totals, findSteps(totals, { threshold: 4, baselines }))
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

t.test('anomalies: a step that equals the threshold is none', async (t) => {
  t.same(
    findSteps(energy([0, 4, 8.5]), { threshold: 4, baselines }).map((one) => one.frame_id),
    [3],
  )
})

t.test('anomalies: an energy that is no number is found at any threshold', async (t) => {
  const found = findSteps(energy([10, Number.NaN, 10]), { threshold: 1e300, baselines })
  t.same(
    found.map(({ frame_id, kind, delta_e }) => [frame_id, kind, delta_e]),
    [
      [2, 'nonfinite', null],
      [3, 'nonfinite', null],
    ],
  )
})

t.test('anomalies: a body that appears makes a baseline', async (t) => {
  const summary = {
    frames: { first_frame: 1, last_frame: 3, total_frames: 3, contiguous: true },
    appearances: [
      { body_id: 2, first_frame: 1 },
      { body_id: 3, first_frame: 2 },
    ],
  }
  const spawned = baselineFrames(summary as never)
  const found = findSteps(energy([10, 60, 60]), { threshold: 1, baselines: spawned })
  t.same(countKinds(found), {
    baseline: 2,
    injection: 0,
    dissipation_without_contact: 0,
    impact_loss: 0,
    nonfinite: 0,
  })
  t.match(anomalySummary(found, 1, 2), /^No anomalies .* 2 baseline steps/)
})

t.test('anomalies: many small gains show in the budget, below any threshold', async (t) => {
  const creeping = energy(Array.from({ length: 1001 }, (_, i) => 5 + i * 0.01))
  t.same(findSteps(creeping, { threshold: 1, baselines }).length, 1)
  const { injected_e, lost_e } = energyBudget(creeping, baselines)
  t.ok(Math.abs(injected_e - 10) < 1e-9)
  t.equal(lost_e, 0)
})

t.test('anomalies: energies of a diverged run are told with an exponent', async (t) => {
  const found = findSteps(energy([1, 2e195, -1e195]), { threshold: 1, baselines })
  t.match(
    anomalySummary(found, 1, 1),
    /greatest: 2e195 J in frame 2.*greatest: -3e195 J in frame 3.*1 listed; next_cursor/,
  )
})

t.test(
  'attribution: the bodies whose energy changed most come first, and the pairs in contact are named',
  async (t) => {
    const row = (body_id: number, total_e: number | null) => ({ body_id, total_e })
    const collisions = [{ body_a_id: 2, body_b_id: 9 }]
    const frame = (rows: readonly object[]): Frame =>
      ({ body_energies: rows, collisions, friction_constraints: [] }) as unknown as Frame
    const before = frame([row(1, 10), row(2, 10), row(3, 10), row(4, 10)])
    const after = frame([row(1, 10.5), row(2, -5), row(3, null), row(4, 10), row(5, 7)])
    t.same(attribute(after, before), {
      per_body: [
        { body_id: 3, delta_e: null },
        { body_id: 2, delta_e: -15 },
        { body_id: 5, delta_e: 7 },
      ],
      pairs: collisions,
    })
    t.same(attribute(after, null, 1).per_body, [{ body_id: 3, delta_e: null }])
  },
)
