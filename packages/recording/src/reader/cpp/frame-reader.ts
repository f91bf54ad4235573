import { computeAngularVelocity } from '../../domain/angular-velocity.ts'
import { RecordingError } from '../../errors.ts'
import { bodyEnergyFields, solverFields, systemEnergyFields } from '../../formats/fields.ts'
import { frameTable } from '../../formats/schema-era.ts'
import type { BodyEnergy, BodyState, Frame, Solver, SystemEnergy } from '../../types.ts'
import { readCountAt, readEnergy, readQuaternionAt, readValueAt, readVectorAt } from '../frame-records.ts'
import { type Connection, createRowReader, prepareFrameRows, type ReadRows } from './connection.ts'
import {
  createCollisionReader,
  createConstraintReader,
  createExternalReader,
  createFrictionReader,
  createJointReader,
} from './contact-reader.ts'
import { type RawRow, readFlagAt, selectFrom, wxyz, xyz } from './selection.ts'

/** Throws `FRAME_NOT_FOUND`. */
export type ReadFrame = (frameId: number) => Frame

export function prepareFrameReader(connection: Connection): ReadFrame {
  const { db } = connection
  const find = db.prepare<[number], RawRow>(`SELECT simulation_time FROM ${frameTable} WHERE id = ?`).raw()
  const frameRange = db
    .prepare<[], [number | null, number | null]>(`SELECT min(id), max(id) FROM ${frameTable}`)
    .raw()
  const energies = createEnergyReader(connection)
  const states = createStateReader(connection)
  const collisions = createCollisionReader(connection)
  const constraints = createConstraintReader(connection)
  const friction = createFrictionReader(connection)
  const externals = createExternalReader(connection)
  const joints = createJointReader(connection)
  const solver = createSolverReader(connection)
  const system = createSystemReader(connection)
  const read = (frame: number): Frame => {
    const row = find.get(frame)
    if (row === undefined) {
      const [first_frame = null, last_frame = null] = frameRange.get() ?? []
      throw new RecordingError('FRAME_NOT_FOUND', `the recording has no frame ${frame}`, {
        data: { frame_id: frame, first_frame, last_frame },
      })
    }
    const body_energies = energies(frame)
    return {
      frame_id: frame,
      simulation_time: readValueAt(row, 0),
      states: states(frame, body_energies),
      collisions: collisions(frame),
      contact_constraints: constraints(frame),
      friction_constraints: friction(frame),
      external_forces: externals(frame),
      joints: joints(frame),
      solver: solver(frame)[0] ?? null,
      system_energy: system(frame)[0] ?? null,
      body_energies,
    }
  }
  return db.transaction(read)
}

const createEnergyReader = (connection: Connection): ReadRows<BodyEnergy> =>
  createRowReader(
    connection,
    connection.era.parts.bodyEnergy,
    (row) => readEnergy(readCountAt(row, 0), row, 1),
    (select) => select.columns(['body_id', ...bodyEnergyFields]),
  )

const createSolverReader = (connection: Connection): ReadRows<Solver> =>
  createRowReader(
    connection,
    connection.era.parts.solver,
    (row) => ({
      iterations: readValueAt(row, 0),
      residual: readValueAt(row, 1),
      converged: row[2] === null ? null : readFlagAt(row, 2),
      num_constraints: readCountAt(row, 3),
      num_contacts: readCountAt(row, 4),
    }),
    (select) => select.columns(solverFields),
  )

const createSystemReader = (connection: Connection): ReadRows<SystemEnergy> =>
  createRowReader(
    connection,
    connection.era.parts.systemEnergy,
    (row) => ({
      total_linear_ke: readValueAt(row, 0),
      total_rotational_ke: readValueAt(row, 1),
      total_potential_e: readValueAt(row, 2),
      total_system_e: readValueAt(row, 3),
      delta_e: readValueAt(row, 4),
      energy_injection: readFlagAt(row, 5),
      collision_active: readFlagAt(row, 6),
    }),
    (select) => select.columns(systemEnergyFields),
  )

type ReadStates = (frame: number, energies: readonly BodyEnergy[]) => readonly BodyState[]

function createStateReader(connection: Connection): ReadStates {
  const { era } = connection
  const table = era.parts.states
  if (table === undefined) return () => []
  const select = selectFrom(era.schema, table)
  const state =
    table === 'AssetDynamicStateRecord'
      ? select.join(select.root, 'kinematicState_id', 'InertialStateRecord')
      : select.root
  const body = select.column(select.root, 'body_id')
  const position = select.leaf(state, 'position', 'CoordinateRecord', xyz)
  const velocity = select.leaf(state, 'velocity', 'VelocityRecord', xyz)
  const acceleration = select.leaf(state, 'acceleration', 'AccelerationRecord', xyz)
  const orientation = select.leaf(state, 'orientation', 'QuaternionDRecord', wxyz)
  const rate = select.leaf(state, 'quaternionRate', 'Vector4DRecord', wxyz)
  const hasAcceleration = era.schema.has('InertialStateRecord', 'acceleration_id')
  const rows = prepareFrameRows(connection, select)

  const read = (row: RawRow): BodyState => {
    const q = readQuaternionAt(row, orientation)
    return {
      body_id: readCountAt(row, body),
      position: readVectorAt(row, position),
      velocity: readVectorAt(row, velocity),
      acceleration: hasAcceleration ? readVectorAt(row, acceleration) : null,
      orientation: q,
      angular_velocity: computeAngularVelocity(q, readQuaternionAt(row, rate)),
    }
  }
  return (frame, energies) =>
    rows(frame).map((row, i) => {
      const state = read(row)
      // The oldest states have no body ids, but the same order as their energies.
      return state.body_id === 0 ? { ...state, body_id: energies[i]?.body_id ?? i + 1 } : state
    })
}
