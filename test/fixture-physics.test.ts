import type { Database } from 'better-sqlite3'
import { test } from 'tap'
import {
  type FrictionRow,
  frictionRows,
  impulseOnA,
  manifest,
  norm,
  open,
  readExpected,
  rows,
  type StateRow,
  states,
  type Xyz,
} from './fixture-rows.ts'

const gravity = 9.81

const readFault = (name: string) => {
  const fault = manifest.files.find((file) => file.name === name)?.fault
  if (!fault) throw new Error(`${name} has no fault in the manifest`)
  return fault
}

/** Share of the cone that all friction of a frame takes together, and the normal force in newtons. */
function load(db: Database, frame: number, dt: number): { utilization: number; normal_n: number } {
  const found = frictionRows(db).filter(({ frame_id }) => frame_id === frame)
  const normal = found.reduce((sum, row) => sum + row.normal_lambda, 0)
  const tangent = found.map(tangentOnA).reduce(add, { x: 0, y: 0, z: 0 })
  const mu = found[0]?.friction_coefficient ?? Number.NaN
  return { utilization: norm(tangent) / (mu * normal), normal_n: normal / dt }
}

const add = (a: Xyz, b: Xyz): Xyz => ({ x: a.x + b.x, y: a.y + b.y, z: a.z + b.z })

const scale = ({ x, y, z }: Xyz, by: number): Xyz => ({ x: by * x, y: by * y, z: by * z })

const tangentOnA = (row: FrictionRow): Xyz => impulseOnA({ ...row, normal_lambda: 0 })

/** Frames with a friction row outside the cone by more than 1 % and noise. */
const beyondCone = (db: Database): number[] => [
  ...new Set(
    frictionRows(db)
      .filter(
        ({ tangent1_lambda, tangent2_lambda, friction_coefficient, normal_lambda }) =>
          Math.hypot(tangent1_lambda, tangent2_lambda) > 1.01 * friction_coefficient * normal_lambda + 1e-6,
      )
      .map(({ frame_id }) => frame_id),
  ),
]

/** Frames whose energy rises by more than `limit` joules, without the first. */
const injections = (db: Database, limit: number): number[] =>
  rows(db, `SELECT frame_id AS id FROM SystemEnergyRecord WHERE delta_e > ${limit} AND frame_id > 1`).map(
    ({ id }) => id as number,
  )

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** Largest momentum, N*s, that gravity and recorded impulses do not explain, per frame and body. */
function unexplained(name: string): Map<number, number> {
  const db = open(name)
  const { dt } = readExpected(name).frames
  const masses = new Map(
    rows(db, 'SELECT body_id AS id, mass FROM AssetInertialStaticRecord').map(({ id, mass }) => [id, mass]),
  )
  const friction = frictionRows(db)
  const previous = new Map<number, StateRow>()
  const worst = new Map<number, number>()
  for (const state of states(db)) {
    const { body_id: body, frame_id: frame } = state
    const before = previous.get(body)
    previous.set(body, state)
    if (!before) continue
    const onBody = friction
      .filter((row) => row.frame_id === frame && (row.body_a_id === body || row.body_b_id === body))
      .map((row) => scale(impulseOnA(row), row.body_a_id === body ? -1 : 1))
    const residue = onBody.reduce(add, momentumChange(before, state, masses.get(body) ?? Number.NaN, dt))
    worst.set(frame, Math.max(worst.get(frame) ?? 0, norm(residue)))
  }
  db.close()
  return worst
}

/** Change of momentum over a frame without that of gravity. */
const momentumChange = (before: StateRow, after: StateRow, mass: number, dt: number) => ({
  x: mass * (after.velocity.x - before.velocity.x),
  y: mass * (after.velocity.y - before.velocity.y),
  z: mass * (after.velocity.z - before.velocity.z + gravity * dt),
})

test('momentum: gravity and the recorded impulses explain every step of every body', async (t) => {
  const balanced = [
    'drop.db',
    'incline_sticks.db',
    'incline_slides.db',
    'stack.db',
    'spinning_collision.db',
    'late_spawn.db',
    'slide_at_45.db',
    'cone_violation.db',
    'penetration.db',
    'killed_writer.db',
  ]
  for (const name of balanced) {
    const worst = Math.max(...unexplained(name).values())
    t.ok(worst < 1e-9, `${name}: ${worst} N*s`)
  }
})

test('drop: free flight loses half m g^2 dt^2 per frame and nothing else', async (t) => {
  const db = open('drop.db')
  const { closed_form, pairs, frames } = readExpected('drop.db')
  const flight = rows(
    db,
    `SELECT delta_e FROM SystemEnergyRecord WHERE frame_id BETWEEN 2 AND ${pairs[0].first_frame - 1}`,
  )
  t.ok(Math.abs(closed_form.flight_loss_j - 0.5 * 10 * (gravity * frames.dt) ** 2) < 1e-15)
  t.ok(flight.length > 50)
  for (const { delta_e } of flight) t.ok(Math.abs((delta_e ?? 0) + closed_form.flight_loss_j) < 1e-9)
  db.close()
})

test('drop: points without normal impulse carry tangents that only a bare 1 % rule calls a violation', async (t) => {
  const db = open('drop.db')
  const loose = frictionRows(db).filter(({ normal_lambda }) => normal_lambda === 0)
  t.ok(loose.length > 0)
  for (const row of loose) t.ok(norm(tangentOnA(row)) > 0 && norm(tangentOnA(row)) < 1e-12)
  t.same(beyondCone(db), [])
  db.close()
})

test('incline_slides: accelerates by g (sin - mu cos), with friction at the limit', async (t) => {
  const db = open('incline_slides.db')
  const { closed_form, frames } = readExpected('incline_slides.db')
  const { dt } = frames
  const slope = Math.PI / 9
  const speeds = states(db).map(({ velocity }) => norm(velocity))
  const acceleration = ((speeds[119] ?? 0) - (speeds[19] ?? 0)) / (100 * dt)
  const theory = gravity * (Math.sin(slope) - 0.2 * Math.cos(slope))
  t.ok(Math.abs(closed_form.acceleration_m_s2 - theory) < 1e-12)
  t.ok(Math.abs(acceleration / theory - 1) < 0.02, `${acceleration} m/s^2, theory ${theory}`)
  for (const frame of [20, 60, 100, 120])
    t.ok(Math.abs(load(db, frame, dt).utilization - 1) < 1e-6, `frame ${frame}`)
  db.close()
})

test('incline_sticks: takes tan(slope) / mu of the cone and m g cos(slope) of normal force', async (t) => {
  const db = open('incline_sticks.db')
  const { closed_form, frames } = readExpected('incline_sticks.db')
  const { dt } = frames
  const slope = Math.PI / 9
  const { utilization, normal_n } = load(db, 100, dt)
  t.ok(Math.abs(closed_form.utilization - Math.tan(slope) / 0.5) < 1e-12)
  t.ok(Math.abs(utilization - Math.tan(slope) / 0.5) < 1e-3, `${utilization}`)
  t.ok(Math.abs(normal_n / (10 * gravity * Math.cos(slope)) - 1) < 1e-3, `${normal_n} N`)
  db.close()
})

test('frictionless: keeps its speed, and has contacts without friction rows', async (t) => {
  const db = open('frictionless.db')
  for (const { velocity } of states(db)) t.ok(Math.abs(velocity.x - 1) < 1e-9)
  t.same(rows(db, 'SELECT COUNT(*) AS n FROM FrictionConstraintRecord'), [{ n: 0 }])
  t.same(rows(db, 'SELECT COUNT(*) AS n FROM CollisionResultRecord'), [{ n: 100 }])
  t.same(rows(db, 'SELECT DISTINCT num_constraints AS n FROM SolverDiagnosticRecord'), [{ n: 4 }])
  db.close()
})

test('late_spawn: the second body appears at its frame, and its energy is a step', async (t) => {
  const db = open('late_spawn.db')
  t.same(rows(db, 'SELECT MIN(frame_id) AS f FROM AssetDynamicStateRecord WHERE body_id = 3'), [{ f: 40 }])
  t.same(injections(db, 1), [40])
  db.close()
})

test('healthy recordings: no injection, nothing beyond the cone, no stall, no deep overlap', async (t) => {
  const healthy = manifest.files.filter(({ era, fault }) => era === 'current' && fault === null)
  t.ok(healthy.length >= 7)
  for (const { name } of healthy) {
    const db = open(name)
    t.same(injections(db, 0.1), name === 'late_spawn.db' ? [40] : [], `${name}: energy`)
    t.same(beyondCone(db), [], `${name}: cone`)
    t.same(
      rows(db, 'SELECT id FROM SolverDiagnosticRecord WHERE num_contacts > 0 AND converged = 0'),
      [],
      name,
    )
    t.same(
      rows(db, 'SELECT id FROM CollisionResultRecord WHERE penetrationDepth > 0.01'),
      [],
      `${name}: depth`,
    )
    db.close()
  }
})

test('slide_at_45: one frame breaks the cone and gains the energy of the slide', async (t) => {
  const { frame, bodies } = readFault('slide_at_45.db')
  const db = open('slide_at_45.db')
  t.equal(frame, 45)
  t.same(bodies, [1, 2147483650])
  t.same(beyondCone(db), [frame])
  t.same(injections(db, 1), [frame])
  const [row] = rows(db, `SELECT delta_e FROM SystemEnergyRecord WHERE frame_id = ${frame}`)
  t.ok(Math.abs((row?.delta_e ?? 0) - 0.5 * 10 * 1 ** 2) < 1e-3)
  t.same(rows(db, `SELECT id FROM SystemEnergyRecord WHERE ABS(delta_e) > 1 AND frame_id NOT IN (1, 45)`), [])
  db.close()
})

test('energy_injection: energy and momentum jump in one frame of free flight', async (t) => {
  const { frame } = readFault('energy_injection.db')
  const db = open('energy_injection.db')
  t.same(injections(db, 0.01), [frame])
  const residues = [...unexplained('energy_injection.db')].filter(([, residue]) => residue > 1e-9)
  t.same(
    residues.map(([id]) => id),
    [frame],
  )
  db.close()
})

test('cone_violation: the ratio is 1.6 in the frames of the manifest and 1 around them', async (t) => {
  const { frame, last } = readFault('cone_violation.db')
  const db = open('cone_violation.db')
  const { dt } = readExpected('cone_violation.db').frames
  t.same(beyondCone(db), range(frame, last))
  for (const id of [frame, last]) t.ok(Math.abs(load(db, id, dt).utilization - 1.6) < 1e-6, `${id}`)
  for (const id of [frame - 1, last + 1]) t.ok(Math.abs(load(db, id, dt).utilization - 1) < 1e-6, `${id}`)
  db.close()
})

test('penetration: deeper than 1 cm from the frame of the manifest to the end', async (t) => {
  const { frame, last } = readFault('penetration.db')
  const db = open('penetration.db')
  const deep = rows(db, 'SELECT frame_id AS id FROM CollisionResultRecord WHERE penetrationDepth > 0.01')
  t.same(
    deep.map(({ id }) => id),
    range(frame, last),
  )
  db.close()
})

test('tunnelling: the sphere is on both sides of the wall without a contact', async (t) => {
  const { frame, bodies } = readFault('tunnelling.db')
  const db = open('tunnelling.db')
  const own = states(db).filter(({ body_id }) => body_id === bodies[0])
  const x = own.map(({ position }) => position.x)
  t.ok((x[frame - 2] ?? 0) < -0.06 && (x[frame - 1] ?? 0) > 0.06)
  t.same(rows(db, `SELECT id FROM CollisionResultRecord WHERE ${bodies[0]} IN (body_a_id, body_b_id)`), [])
  db.close()
})

test('solver_stall: contacts do not converge in the frames of the manifest only', async (t) => {
  const { frame, last } = readFault('solver_stall.db')
  const db = open('solver_stall.db')
  const stalled = rows(
    db,
    'SELECT frame_id AS id, residual FROM SolverDiagnosticRecord WHERE num_contacts > 0 AND converged = 0',
  )
  t.same(
    stalled.map(({ id }) => id),
    range(frame, last),
  )
  for (const { residual } of stalled) t.ok((residual ?? 0) > 1e-3)
  const unbalanced = [...unexplained('solver_stall.db')].filter(([, residue]) => residue > 1e-9)
  t.same(
    unbalanced.map(([id]) => id),
    range(frame, last),
    'forces of a stalled solver do not explain the motion',
  )
  db.close()
})

test('nan: one body is NULL from the frame of the manifest, the other keeps moving', async (t) => {
  const { frame, last, bodies } = readFault('nan.db')
  const db = open('nan.db')
  const absent = states(db).filter(({ position }) => position.x === null)
  t.same(
    absent.map(({ frame_id, body_id }) => [frame_id, body_id]),
    range(frame, last).map((id) => [id, bodies[0]]),
  )
  t.same(rows(db, 'SELECT MIN(frame_id) AS f FROM SystemEnergyRecord WHERE delta_e IS NULL'), [{ f: frame }])
  t.same(rows(db, 'SELECT id FROM EnergyRecord WHERE total_e IS NULL AND body_id <> 3'), [])
  db.close()
})

test('frozen_time: the clock stands still from the frame of the manifest while the body falls', async (t) => {
  const { frame, last } = readFault('frozen_time.db')
  const db = open('frozen_time.db')
  const times = rows(db, 'SELECT simulation_time AS s FROM SimulationFrameRecord ORDER BY id').map(
    ({ s }) => s,
  )
  const still = range(2, last).filter((id) => times[id - 1] === times[id - 2])
  t.same(still, range(frame, last))
  const heights = states(db).map(({ position }) => position.z)
  t.ok(range(frame, last).every((id) => (heights[id - 1] ?? 0) < (heights[id - 2] ?? 0)))
  db.close()
})

test('killed_writer: rows run ahead of the frame table, further in tables that are flushed later', async (t) => {
  const db = open('killed_writer.db')
  const lastIn = (table: string, column = 'frame_id') =>
    rows(db, `SELECT MAX(${column}) AS f FROM ${table}`)[0]?.f
  t.equal(lastIn('SimulationFrameRecord', 'id'), 40)
  t.equal(lastIn('EnergyRecord'), 41)
  t.equal(lastIn('AssetDynamicStateRecord'), 46)
  t.equal(lastIn('FrictionConstraintRecord'), 52)
  db.close()
})
