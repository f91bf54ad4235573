import type { Database } from 'better-sqlite3'
import {
  type FrictionRow,
  frictionRows,
  impulseOnA,
  norm,
  rows,
  type StateRow,
  states,
  type Xyz,
} from '../fixture-rows.ts'

const gravity = 9.81
const environmentBit = 0x80000000

/** A law that a frame can violate, checked with plain arithmetic on the rows of a recording. */
export type Law =
  | 'energy_gain'
  | 'energy_loss'
  | 'momentum'
  | 'cone'
  | 'depth'
  | 'solver'
  | 'null'
  | 'clock'
  | 'quaternion'
  | 'position'
  | 'gap'
  | 'normal'
  | 'contact'
  | 'restitution'

/** For each law, the frames that violate it and the size of the violation in SI units. */
export type Audit = ReadonlyMap<Law, ReadonlyMap<number, number>>

/** Violations up to this size are noise: energy in J, momentum in N*s. */
export interface Noise {
  readonly energy: number
  readonly momentum: number
}

/** Checks every frame of a recording against every law. */
export function audit(db: Database, noise: Noise): Audit {
  const found = new Map<Law, Map<number, number>>()
  const report = (law: Law, frame: number, size: number) => {
    const known = found.get(law) ?? new Map<number, number>()
    known.set(frame, Math.max(known.get(frame) ?? 0, Math.abs(size)))
    found.set(law, known)
  }
  clock(db, report)
  const step = readSteps(db)
  energies(db, report, noise, step)
  solver(db, report)
  const friction = frictionRows(db)
  for (const { frame_id, ...row } of friction) {
    const excess =
      Math.hypot(row.tangent1_lambda, row.tangent2_lambda) -
      1.01 * row.friction_coefficient * row.normal_lambda
    if (excess > 1e-6) report('cone', frame_id, excess)
  }
  pairs(db, report)
  motions(db, report, noise, step, friction)
  bounces(db, report)
  return found
}

type Report = (law: Law, frame: number, size: number) => void

/** Returns a function for the time in seconds between a frame and the previous one; for the first frame it is the frame's time. */
function readSteps(db: Database): (frame: number) => number {
  const times = new Map(frameTimes(db))
  return (frame) => (times.get(frame) ?? Number.NaN) - (times.get(frame - 1) ?? 0)
}

const frameTimes = (db: Database): [number, number][] =>
  rows(db, 'SELECT id, simulation_time AS s FROM SimulationFrameRecord ORDER BY id').map(({ id, s }) => [
    id as number,
    s as number,
  ])

/** Reports frames after a gap in the ids, and steps that differ from the median. */
function clock(db: Database, report: Report): void {
  const times = frameTimes(db)
  const steps = times.slice(1).map(([, s], i) => s - (times[i]?.[1] ?? 0))
  const median = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0
  times.slice(1).forEach(([id], i) => {
    const [before] = times[i] ?? [0]
    const step = steps[i] ?? 0
    if (id !== before + 1) report('gap', id, id - before - 1)
    if (Math.abs(step / (id - before) - median) > 1e-6 * median) report('clock', id, step)
  })
}

/** Reports energy gains, and losses without contact beyond the m g^2 dt^2 / 2 that a semi-implicit step loses in free flight. */
function energies(db: Database, report: Report, noise: Noise, step: (frame: number) => number): void {
  const spawns = rows(db, 'SELECT MIN(frame_id) AS f FROM AssetDynamicStateRecord GROUP BY body_id').map(
    ({ f }) => f,
  )
  const [{ m = 0 } = {}] = rows(db, 'SELECT SUM(mass) AS m FROM AssetInertialStaticRecord')
  for (const { f, e, active } of rows(
    db,
    'SELECT frame_id AS f, delta_e AS e, collision_active AS active FROM SystemEnergyRecord ORDER BY id',
  )) {
    const frame = f as number
    if (spawns.includes(frame) || e === null || e === undefined) continue
    const natural = 0.5 * (m ?? 0) * (gravity * step(frame)) ** 2
    // Soft contacts return stored energy; in flight energy cannot increase.
    const limit = active === 1 ? noise.energy : 1e-6
    if (e > limit) report('energy_gain', frame, e)
    if (active === 0 && e < -1.001 * natural - 1e-6) report('energy_loss', frame, e)
  }
}

function solver(db: Database, report: Report): void {
  for (const { f, residual } of rows(
    db,
    'SELECT frame_id AS f, residual FROM SolverDiagnosticRecord WHERE num_constraints > 0 AND converged = 0',
  ))
    report('solver', f as number, residual ?? 0)
}

/** Reports penetration, turns of the normal by more than 30 degrees, and contacts that are lost twice within 30 frames. */
function pairs(db: Database, report: Report): void {
  const ids = new Set(frameTimes(db).map(([id]) => id))
  const last = new Map<string, { frame: number; lost: number; normal: Xyz }>()
  for (const row of rows(
    db,
    `SELECT c.frame_id AS f, c.body_a_id AS a, c.body_b_id AS b, c.penetrationDepth AS depth, n.x, n.y, n.z
    FROM CollisionResultRecord c JOIN Vector3DRecord n ON n.id = c.normal_id ORDER BY c.id`,
  )) {
    const frame = row.f as number
    const normal = { x: row.x as number, y: row.y as number, z: row.z as number }
    const key = `${row.a}/${row.b}`
    const known = last.get(key)
    if ((row.depth ?? 0) > 0.01) report('depth', frame, row.depth ?? 0)
    const isNext = known?.frame === frame - 1
    if (known && isNext) {
      const cosine = known.normal.x * normal.x + known.normal.y * normal.y + known.normal.z * normal.z
      if (cosine < Math.cos(Math.PI / 6)) report('normal', frame, cosine)
    }
    // A landing body may hop once; another loss of the contact soon after is chatter.
    const isLoss = known !== undefined && !isNext && ids.has(known.frame + 1)
    if (isLoss && known.frame + 1 - known.lost <= 30) {
      report('contact', known.lost, 1)
      report('contact', known.frame + 1, 1)
    }
    const lost = isLoss ? known.frame + 1 : (known?.lost ?? Number.NEGATIVE_INFINITY)
    last.set(key, { frame, lost, normal })
  }
}

/** Reports missing numbers, quaternions of wrong length, jumps of position, and unexplained momentum of each body. */
function motions(
  db: Database,
  report: Report,
  noise: Noise,
  step: (frame: number) => number,
  friction: readonly FrictionRow[],
): void {
  const masses = new Map(
    rows(db, 'SELECT body_id AS id, mass FROM AssetInertialStaticRecord').map(({ id, mass }) => [id, mass]),
  )
  const impulses = impulsesByFrameAndBody(db, friction)
  const unknown = touchedWithoutFriction(db)
  const previous = new Map<number, StateRow>()
  for (const state of states(db)) {
    const { frame_id: frame, body_id: body, position, velocity, orientation: q } = state
    const values = [...Object.values(position), ...Object.values(velocity), ...Object.values(q)]
    if (values.some((value) => value === null)) {
      report('null', frame, body)
      continue
    }
    const excess = Math.sqrt(q.w ** 2 + q.x ** 2 + q.y ** 2 + q.z ** 2) - 1
    if (Math.abs(excess) > 1e-6) report('quaternion', frame, excess)
    const before = previous.get(body)
    previous.set(body, state)
    if (before?.frame_id !== frame - 1) continue
    const dt = step(frame)
    const path = norm(minus(position, before.position))
    const speed = Math.max(norm(velocity), norm(before.velocity))
    if (path > 3 * speed * dt + 1e-3) report('position', frame, path)
    if (unknown.has(`${frame}/${body}`)) continue
    const mass = masses.get(body) ?? Number.NaN
    const gained = scale(minus(velocity, before.velocity), mass)
    const explained = add(impulses.get(`${frame}/${body}`) ?? zero, { x: 0, y: 0, z: -mass * gravity * dt })
    const residue = norm(minus(gained, explained))
    if (residue > noise.momentum + 1e-6 * norm(gained)) report('momentum', frame, residue)
  }
}

const zero: Xyz = { x: 0, y: 0, z: 0 }
const add = (a: Xyz, b: Xyz): Xyz => ({ x: a.x + b.x, y: a.y + b.y, z: a.z + b.z })
const scale = ({ x, y, z }: Xyz, by: number): Xyz => ({ x: by * x, y: by * y, z: by * z })
const minus = (a: Xyz, b: Xyz): Xyz => add(a, scale(b, -1))

/** Returns the impulse of all contacts and external forces on a body in a frame, in N*s; key `frame/body`. */
function impulsesByFrameAndBody(db: Database, friction: readonly FrictionRow[]): ReadonlyMap<string, Xyz> {
  const sums = new Map<string, Xyz>()
  const put = (frame: number, body: number, impulse: Xyz) => {
    if (body < environmentBit)
      sums.set(`${frame}/${body}`, add(sums.get(`${frame}/${body}`) ?? zero, impulse))
  }
  for (const row of friction) {
    put(row.frame_id, row.body_a_id, impulseOnA(row))
    put(row.frame_id, row.body_b_id, scale(impulseOnA(row), -1))
  }
  const times = new Map(frameTimes(db))
  for (const row of rows(
    db,
    `SELECT d.frame_id AS frame, d.body_id AS body, f.x, f.y, f.z FROM AssetDynamicStateRecord d
    JOIN AssetDynamicStateRecord_ExternalForceRecord l ON l.AssetDynamicStateRecord_id = d.id
    JOIN ExternalForceRecord e ON e.id = l.ExternalForceRecord_id JOIN ForceVectorRecord f ON f.id = e.force_id`,
  )) {
    const frame = row.frame as number
    const dt = (times.get(frame) ?? Number.NaN) - (times.get(frame - 1) ?? 0)
    put(frame, row.body as number, scale({ x: row.x as number, y: row.y as number, z: row.z as number }, dt))
  }
  return sums
}

/** Returns bodies with frictionless contacts, whose impulses are not recorded; keys `frame/body`. */
const touchedWithoutFriction = (db: Database): ReadonlySet<string> =>
  new Set(
    rows(
      db,
      `SELECT frame_id AS f, body_a_id AS a, body_b_id AS b FROM CollisionResultRecord
      WHERE frame_id NOT IN (SELECT frame_id FROM FrictionConstraintRecord)`,
    ).flatMap(({ f, a, b }) => [`${f}/${a}`, `${f}/${b}`]),
  )

/** Reports bounces whose separation speed is not e times the approach speed. Contacts without restitution are not checked. */
function bounces(db: Database, report: Report): void {
  const velocities = new Map(
    states(db).map(({ frame_id, body_id, velocity }) => [`${frame_id}/${body_id}`, velocity]),
  )
  for (const row of rows(
    db,
    `SELECT c.frame_id AS frame, c.body_a_id AS a, c.body_b_id AS b, c.restitution AS e,
      c.pre_impact_rel_vel_normal AS closing, n.x, n.y, n.z
    FROM ContactConstraintRecord c JOIN Vector3DRecord n ON n.id = c.normal_id
    WHERE c.restitution > 0 AND c.pre_impact_rel_vel_normal < -0.5`,
  )) {
    const at = (body: unknown) => velocities.get(`${row.frame}/${body}`) ?? zero
    const apart = minus(at(row.b), at(row.a))
    const opening = apart.x * (row.x as number) + apart.y * (row.y as number) + apart.z * (row.z as number)
    const e = opening / -(row.closing as number)
    if (Math.abs(e - (row.e as number)) > 0.02) report('restitution', row.frame as number, e)
  }
}
