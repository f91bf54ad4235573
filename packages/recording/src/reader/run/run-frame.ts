import type { Database } from 'better-sqlite3'
import { angularVelocity } from '../../domain/angular-velocity.ts'
import { jointAt, jointKinds } from '../../formats/frame-window.ts'
import {
  bodyAt,
  bodyWidth,
  hasEnergy,
  hasState,
  type PackedFrame,
  type SolverRow,
  type SystemRow,
  toNumbers,
  unknownConvergence,
  unpackContacts,
} from '../../formats/packed-frame.ts'
import type {
  BodyEnergy,
  BodyState,
  Collision,
  ContactConstraint,
  ExternalForce,
  Frame,
  FrictionConstraint,
  Joint,
  Quaternion,
  Solver,
  SystemEnergy,
  Value,
  Vector,
} from '../../types.ts'

type Stored = number | null

const frameColumns = `f.id, f.time, f.wall_time, f.linear_ke, f.rotational_ke, f.potential_e, f.total_e, f.delta_e,
  f.energy_injection, f.collision_active, f.iterations, f.residual, f.converged, f.num_constraints, f.num_contacts,
  b.contacts, b.bodies`

type Row = readonly [
  ...[id: number, time: Stored, wallTime: Stored],
  ...[linear: Stored, rotational: Stored, potential: Stored, total: Stored, delta: Stored],
  ...[injection: Stored, active: Stored],
  ...[iterations: Stored, residual: Stored, converged: Stored, constraints: Stored, contacts: Stored],
  ...[contacts: Buffer | null, bodies: Buffer, joints: Buffer | null],
]

export type ReadFrames = (first: number, last: number) => IterableIterator<PackedFrame>

export function prepareFrames(db: Database): ReadFrames {
  // Older files lack the column until they are recorded to again.
  const hasJoints = db.prepare(`SELECT 1 FROM pragma_table_info('block') WHERE name = 'joints'`).get()
  const columns = `${frameColumns}, ${hasJoints === undefined ? 'NULL' : 'b.joints'}`
  const statement = db
    .prepare<[number, number], Row>(
      `SELECT ${columns} FROM frame f JOIN block b ON b.frame_id = f.id WHERE f.id BETWEEN ? AND ? ORDER BY f.id`,
    )
    .raw()
  return function* (first, last) {
    for (const row of statement.iterate(first, last)) yield unpackRow(row)
  }
}

const toNumber = (value: Stored): number => value ?? Number.NaN

function unpackRow(row: Row): PackedFrame {
  const [id, time, wallTime, linear, rotational, potential, total, delta, injection, active] = row
  const [iterations, residual, converged, constraints, touching, contacts, bodies, joints] = row.slice(
    10,
  ) as [...[Stored, Stored, Stored, Stored, Stored], ...[Buffer | null, Buffer, Buffer | null]]
  return {
    id,
    time: toNumber(time),
    wallTime: toNumber(wallTime),
    bodies: toNumbers(bodies),
    contacts: contacts && toNumbers(contacts),
    joints: joints && toNumbers(joints),
    system:
      injection === null
        ? null
        : {
            linear: toNumber(linear),
            rotational: toNumber(rotational),
            potential: toNumber(potential),
            total: toNumber(total),
            delta: toNumber(delta),
            injection: injection === 1,
            active: active === 1,
          },
    solver:
      converged === null
        ? null
        : {
            iterations: toNumber(iterations),
            residual: toNumber(residual),
            converged: converged === unknownConvergence ? null : converged === 1,
            constraints: constraints ?? 0,
            contacts: touching ?? 0,
          },
  }
}

const toValue = (number: number | undefined): Value =>
  number !== undefined && Number.isFinite(number) ? number : null

const vectorAt = (rows: Float64Array, at: number): Vector => ({
  x: toValue(rows[at]),
  y: toValue(rows[at + 1]),
  z: toValue(rows[at + 2]),
})

const quaternionAt = (rows: Float64Array, at: number): Quaternion => ({
  w: toValue(rows[at]),
  ...vectorAt(rows, at + 1),
})

export function unpackFrame({ id, time, bodies, contacts, joints, solver, system }: PackedFrame): Frame {
  const lists = unpackContacts(contacts)
  return {
    frame_id: id,
    simulation_time: toValue(time),
    states: unpackStates(bodies),
    collisions: unpackCollisions(lists.collisions, lists.points),
    contact_constraints: unpackRows(lists.constraints, 14, constraintAt),
    friction_constraints: unpackRows(lists.friction, 21, frictionAt),
    external_forces: unpackRows(lists.externals, 10, externalAt),
    joints: joints === null ? [] : unpackRows(joints, jointAt.width, readJoint),
    solver: solver && unpackSolver(solver),
    system_energy: system && unpackSystem(system),
    body_energies: unpackEnergies(bodies),
  }
}

function unpackRows<Row>(
  list: Float64Array,
  width: number,
  read: (list: Float64Array, at: number) => Row,
): readonly Row[] {
  const rows: Row[] = []
  for (let at = 0; at < list.length; at += width) rows.push(read(list, at))
  return rows
}

const hasPart = (bodies: Float64Array, at: number, part: number): boolean =>
  ((bodies[at + bodyAt.parts] ?? 0) & part) !== 0

function unpackStates(bodies: Float64Array): readonly BodyState[] {
  const states: BodyState[] = []
  for (let at = 0; at < bodies.length; at += bodyWidth) {
    if (!hasPart(bodies, at, hasState)) continue
    const orientation = quaternionAt(bodies, at + bodyAt.orientation)
    states.push({
      body_id: bodies[at + bodyAt.id] ?? 0,
      position: vectorAt(bodies, at + bodyAt.position),
      velocity: vectorAt(bodies, at + bodyAt.velocity),
      acceleration: vectorAt(bodies, at + bodyAt.acceleration),
      orientation,
      angular_velocity: angularVelocity(orientation, quaternionAt(bodies, at + bodyAt.rate)),
    })
  }
  return states
}

function unpackEnergies(bodies: Float64Array): readonly BodyEnergy[] {
  const energies: BodyEnergy[] = []
  for (let at = 0; at < bodies.length; at += bodyWidth) {
    if (!hasPart(bodies, at, hasEnergy)) continue
    const from = at + bodyAt.energy
    energies.push({
      body_id: bodies[at + bodyAt.id] ?? 0,
      linear_ke: toValue(bodies[from]),
      rotational_ke: toValue(bodies[from + 1]),
      potential_e: toValue(bodies[from + 2]),
      total_e: toValue(bodies[from + 3]),
    })
  }
  return energies
}

function unpackCollisions(collisions: Float64Array, points: Float64Array): readonly Collision[] {
  let from = 0
  return unpackRows(collisions, 7, (list, at) => {
    const own = points.subarray(from, from + (list[at + 6] ?? 0) * 7)
    from += own.length
    return {
      body_a_id: list[at] ?? 0,
      body_b_id: list[at + 1] ?? 0,
      normal: vectorAt(list, at + 2),
      penetration_depth: toValue(list[at + 5]),
      contacts: unpackRows(own, 7, (point, k) => ({
        point_a: vectorAt(point, k),
        point_b: vectorAt(point, k + 3),
        depth: toValue(point[k + 6]),
      })),
    }
  })
}

const constraintAt = (list: Float64Array, at: number): ContactConstraint => ({
  body_a_id: list[at] ?? 0,
  body_b_id: list[at + 1] ?? 0,
  normal: vectorAt(list, at + 2),
  lever_arm_a: vectorAt(list, at + 5),
  lever_arm_b: vectorAt(list, at + 8),
  penetration_depth: toValue(list[at + 11]),
  restitution: toValue(list[at + 12]),
  pre_impact_rel_vel_normal: toValue(list[at + 13]),
})

const frictionAt = (list: Float64Array, at: number): FrictionConstraint => ({
  body_a_id: list[at] ?? 0,
  body_b_id: list[at + 1] ?? 0,
  normal: vectorAt(list, at + 2),
  tangent1: vectorAt(list, at + 5),
  tangent2: vectorAt(list, at + 8),
  lever_arm_a: vectorAt(list, at + 11),
  lever_arm_b: vectorAt(list, at + 14),
  friction_coefficient: toValue(list[at + 17]),
  normal_lambda: toValue(list[at + 18]),
  tangent1_lambda: toValue(list[at + 19]),
  tangent2_lambda: toValue(list[at + 20]),
})

const externalAt = (list: Float64Array, at: number): ExternalForce => ({
  body_id: list[at] ?? 0,
  force: vectorAt(list, at + 1),
  torque: vectorAt(list, at + 4),
  at: vectorAt(list, at + 7),
})

const readJoint = (list: Float64Array, at: number): Joint => ({
  body_a_id: list[at] ?? 0,
  body_b_id: list[at + jointAt.b] ?? 0,
  kind: jointKinds[list[at + jointAt.kind] ?? 0] ?? 'other',
  point: vectorAt(list, at + jointAt.point),
  impulse: vectorAt(list, at + jointAt.impulse),
  torque: vectorAt(list, at + jointAt.torque),
  position_error: toValue(list[at + jointAt.error]),
})

const unpackSolver = ({ iterations, residual, converged, constraints, contacts }: SolverRow): Solver => ({
  iterations: toValue(iterations),
  residual: toValue(residual),
  converged,
  num_constraints: constraints,
  num_contacts: contacts,
})

const unpackSystem = (system: SystemRow): SystemEnergy => ({
  total_linear_ke: toValue(system.linear),
  total_rotational_ke: toValue(system.rotational),
  total_potential_e: toValue(system.potential),
  total_system_e: toValue(system.total),
  delta_e: toValue(system.delta),
  energy_injection: system.injection,
  collision_active: system.active,
})
