import type { Database } from 'better-sqlite3'
import { computeAngularVelocity } from '../../domain/angular-velocity.ts'
import { jointAt } from '../../formats/frame-window.ts'
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
import type { BodyEnergy, BodyState, Collision, Frame, Solver, SystemEnergy, Value } from '../../types.ts'
import {
  type ReadRecord,
  readConstraint,
  readEnergy,
  readExternal,
  readFriction,
  readJoint,
  readPair,
  readPoint,
  readQuaternionAt,
  readValueAt,
  readVectorAt,
} from '../frame-records.ts'

type StoredNumber = number | null

const frameColumns = `f.id, f.time, f.wall_time, f.linear_ke, f.rotational_ke, f.potential_e, f.total_e, f.delta_e,
  f.energy_injection, f.collision_active, f.iterations, f.residual, f.converged, f.num_constraints, f.num_contacts,
  b.contacts, b.bodies`

type Row = readonly [
  ...[id: number, time: StoredNumber, wallTime: StoredNumber],
  ...[
    linear: StoredNumber,
    rotational: StoredNumber,
    potential: StoredNumber,
    total: StoredNumber,
    delta: StoredNumber,
  ],
  ...[injection: StoredNumber, active: StoredNumber],
  ...[
    iterations: StoredNumber,
    residual: StoredNumber,
    converged: StoredNumber,
    constraints: StoredNumber,
    contacts: StoredNumber,
  ],
  ...[contacts: Buffer | null, bodies: Buffer, joints: Buffer | null],
]

export type ReadFrames = (first: number, last: number) => IterableIterator<PackedFrame>

export function prepareFrames(db: Database): ReadFrames {
  // Files of earlier versions lack the column.
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

const toNumber = (value: StoredNumber): number => value ?? Number.NaN

function unpackRow(row: Row): PackedFrame {
  const [id, time, wallTime, linear, rotational, potential, total, delta, injection, active] = row
  const [iterations, residual, converged, constraints, touching, contacts, bodies, joints] = row.slice(
    10,
  ) as [
    ...[StoredNumber, StoredNumber, StoredNumber, StoredNumber, StoredNumber],
    ...[Buffer | null, Buffer, Buffer | null],
  ]
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

const toValue = (number: number): Value => (Number.isFinite(number) ? number : null)

export function unpackFrame({ id, time, bodies, contacts, joints, solver, system }: PackedFrame): Frame {
  const lists = unpackContacts(contacts)
  return {
    frame_id: id,
    simulation_time: toValue(time),
    states: unpackStates(bodies),
    collisions: unpackCollisions(lists.collisions, lists.points),
    contact_constraints: unpackRows(lists.constraints, 14, readConstraint),
    friction_constraints: unpackRows(lists.friction, 21, readFriction),
    external_forces: unpackRows(lists.externals, 10, readExternal),
    joints: joints === null ? [] : unpackRows(joints, jointAt.width, readJoint),
    solver: solver && unpackSolver(solver),
    system_energy: system && unpackSystem(system),
    body_energies: unpackEnergies(bodies),
  }
}

function unpackRows<Row>(list: Float64Array, width: number, read: ReadRecord<Row>): readonly Row[] {
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
    const orientation = readQuaternionAt(bodies, at + bodyAt.orientation)
    states.push({
      body_id: bodies[at + bodyAt.id] ?? 0,
      position: readVectorAt(bodies, at + bodyAt.position),
      velocity: readVectorAt(bodies, at + bodyAt.velocity),
      acceleration: readVectorAt(bodies, at + bodyAt.acceleration),
      orientation,
      angular_velocity: computeAngularVelocity(orientation, readQuaternionAt(bodies, at + bodyAt.rate)),
    })
  }
  return states
}

function unpackEnergies(bodies: Float64Array): readonly BodyEnergy[] {
  const energies: BodyEnergy[] = []
  for (let at = 0; at < bodies.length; at += bodyWidth) {
    if (!hasPart(bodies, at, hasEnergy)) continue
    energies.push(readEnergy(bodies[at + bodyAt.id] ?? 0, bodies, at + bodyAt.energy))
  }
  return energies
}

function unpackCollisions(collisions: Float64Array, points: Float64Array): readonly Collision[] {
  let from = 0
  return unpackRows(collisions, 7, (list, at) => {
    const collisionPoints = points.subarray(from, from + (collisions[at + 6] ?? 0) * 7)
    from += collisionPoints.length
    const contacts = unpackRows(collisionPoints, 7, readPoint)
    return { ...readPair(list, at), penetration_depth: readValueAt(list, at + 5), contacts }
  })
}

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
