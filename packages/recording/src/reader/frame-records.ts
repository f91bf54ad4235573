import { jointAt, jointKinds } from '../formats/frame-window.ts'
import type {
  BodyEnergy,
  Collision,
  ContactConstraint,
  ContactPoint,
  ExternalForce,
  FrictionConstraint,
  Joint,
  Quaternion,
  Value,
  Vector,
} from '../types.ts'

/** A row of a table, or packed rows, with the columns of `contactLists` or `jointAt`. */
type Rows = ArrayLike<unknown>

export type ReadRecord<Row> = (rows: Rows, at: number) => Row

/** Returns null if the value is not a finite number. */
export const readValueAt = (rows: Rows, at: number): Value => {
  const value = rows[at]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Returns 0, the recorder's default, for NULL. */
export const readCountAt = (rows: Rows, at: number): number => readValueAt(rows, at) ?? 0

export const readVectorAt = (rows: Rows, at: number): Vector => ({
  x: readValueAt(rows, at),
  y: readValueAt(rows, at + 1),
  z: readValueAt(rows, at + 2),
})

export const readQuaternionAt = (rows: Rows, at: number): Quaternion => ({
  w: readValueAt(rows, at),
  ...readVectorAt(rows, at + 1),
})

export const readEnergy = (body_id: number, rows: Rows, at: number): BodyEnergy => ({
  body_id,
  linear_ke: readValueAt(rows, at),
  rotational_ke: readValueAt(rows, at + 1),
  potential_e: readValueAt(rows, at + 2),
  total_e: readValueAt(rows, at + 3),
})

export const readPair: ReadRecord<Pick<Collision, 'body_a_id' | 'body_b_id' | 'normal'>> = (rows, at) => ({
  body_a_id: readCountAt(rows, at),
  body_b_id: readCountAt(rows, at + 1),
  normal: readVectorAt(rows, at + 2),
})

export const readPoint: ReadRecord<ContactPoint> = (rows, at) => ({
  point_a: readVectorAt(rows, at),
  point_b: readVectorAt(rows, at + 3),
  depth: readValueAt(rows, at + 6),
})

export const readConstraint: ReadRecord<ContactConstraint> = (rows, at) => ({
  ...readPair(rows, at),
  lever_arm_a: readVectorAt(rows, at + 5),
  lever_arm_b: readVectorAt(rows, at + 8),
  penetration_depth: readValueAt(rows, at + 11),
  restitution: readValueAt(rows, at + 12),
  pre_impact_rel_vel_normal: readValueAt(rows, at + 13),
})

export const readFriction: ReadRecord<FrictionConstraint> = (rows, at) => ({
  ...readPair(rows, at),
  tangent1: readVectorAt(rows, at + 5),
  tangent2: readVectorAt(rows, at + 8),
  lever_arm_a: readVectorAt(rows, at + 11),
  lever_arm_b: readVectorAt(rows, at + 14),
  friction_coefficient: readValueAt(rows, at + 17),
  normal_lambda: readValueAt(rows, at + 18),
  tangent1_lambda: readValueAt(rows, at + 19),
  tangent2_lambda: readValueAt(rows, at + 20),
})

export const readExternal: ReadRecord<ExternalForce> = (rows, at) => ({
  body_id: readCountAt(rows, at),
  force: readVectorAt(rows, at + 1),
  torque: readVectorAt(rows, at + 4),
  at: readVectorAt(rows, at + 7),
})

export const readJoint: ReadRecord<Joint> = (rows, at) => ({
  body_a_id: readCountAt(rows, at),
  body_b_id: readCountAt(rows, at + jointAt.b),
  kind: jointKinds[readCountAt(rows, at + jointAt.kind)] ?? 'other',
  point: readVectorAt(rows, at + jointAt.point),
  impulse: readVectorAt(rows, at + jointAt.impulse),
  torque: readVectorAt(rows, at + jointAt.torque),
  position_error: readValueAt(rows, at + jointAt.error),
})
