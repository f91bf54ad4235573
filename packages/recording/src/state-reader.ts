import { boundsOfFrame, type Connection, ofFrame } from './connection.ts'
import { angularVelocity } from './domain/angular-velocity.ts'
import { countAt, quaternionAt, type RawRow, selectFrom, vectorAt, wxyz, xyz } from './selection.ts'
import type { BodyEnergy, BodyState } from './types.ts'

/** Reads the states of a frame. `energies` of the same frame name the bodies where states carry no body id. */
export type ReadStates = (frame: number, energies: readonly BodyEnergy[]) => readonly BodyState[]

/** Prepares the reader of body states for the schema of a file. */
export function stateReader(connection: Connection): ReadStates {
  const { db, era } = connection
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
  const statement = db.prepare<[number, number, number], RawRow>(select.sql(ofFrame)).raw()

  const read = (row: RawRow): BodyState => {
    const q = quaternionAt(row, orientation)
    return {
      body_id: countAt(row, body),
      position: vectorAt(row, position),
      velocity: vectorAt(row, velocity),
      acceleration: hasAcceleration ? vectorAt(row, acceleration) : null,
      orientation: q,
      angular_velocity: angularVelocity(q, quaternionAt(row, rate)),
    }
  }
  return (frame, energies) =>
    statement.all(frame, ...boundsOfFrame(connection, table, frame)).map((row, i) => {
      const found = read(row)
      // The oldest states carry no body id; their energies were written beside them, in the same order.
      return found.body_id === 0 ? { ...found, body_id: energies[i]?.body_id ?? i + 1 } : found
    })
}
