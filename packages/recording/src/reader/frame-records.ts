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
export const valueAt = (rows: Rows, at: number): Value => {
  const value = rows[at]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** Returns 0 for NULL, the recorder's default. */
export const countAt = (rows: Rows, at: number): number => valueAt(rows, at) ?? 0

export const vectorAt = (rows: Rows, at: number): Vector => ({
  x: valueAt(rows, at),
  y: valueAt(rows, at + 1),
  z: valueAt(rows, at + 2),
})

export const quaternionAt = (rows: Rows, at: number): Quaternion => ({
  w: valueAt(rows, at),
  ...vectorAt(rows, at + 1),
})

export const readEnergy = (body_id: number, rows: Rows, at: number): BodyEnergy => ({
  body_id,
  linear_ke: valueAt(rows, at),
  rotational_ke: valueAt(rows, at + 1),
  potential_e: valueAt(rows, at + 2),
  total_e: valueAt(rows, at + 3),
})

export const readPair: ReadRecord<Pick<Collision, 'body_a_id' | 'body_b_id' | 'normal'>> = (rows, at) => ({
  body_a_id: countAt(rows, at),
  body_b_id: countAt(rows, at + 1),
  normal: vectorAt(rows, at + 2),
})

export const readPoint: ReadRecord<ContactPoint> = (rows, at) => ({
  point_a: vectorAt(rows, at),
  point_b: vectorAt(rows, at + 3),
  depth: valueAt(rows, at + 6),
})

export const readConstraint: ReadRecord<ContactConstraint> = (rows, at) => ({
  ...readPair(rows, at),
  lever_arm_a: vectorAt(rows, at + 5),
  lever_arm_b: vectorAt(rows, at + 8),
  penetration_depth: valueAt(rows, at + 11),
  restitution: valueAt(rows, at + 12),
  pre_impact_rel_vel_normal: valueAt(rows, at + 13),
})

export const readFriction: ReadRecord<FrictionConstraint> = (rows, at) => ({
  ...readPair(rows, at),
  tangent1: vectorAt(rows, at + 5),
  tangent2: vectorAt(rows, at + 8),
  lever_arm_a: vectorAt(rows, at + 11),
  lever_arm_b: vectorAt(rows, at + 14),
  friction_coefficient: valueAt(rows, at + 17),
  normal_lambda: valueAt(rows, at + 18),
  tangent1_lambda: valueAt(rows, at + 19),
  tangent2_lambda: valueAt(rows, at + 20),
})

export const readExternal: ReadRecord<ExternalForce> = (rows, at) => ({
  body_id: countAt(rows, at),
  force: vectorAt(rows, at + 1),
  torque: vectorAt(rows, at + 4),
  at: vectorAt(rows, at + 7),
})

export const readJoint: ReadRecord<Joint> = (rows, at) => ({
  body_a_id: countAt(rows, at),
  body_b_id: countAt(rows, at + jointAt.b),
  kind: jointKinds[countAt(rows, at + jointAt.kind)] ?? 'other',
  point: vectorAt(rows, at + jointAt.point),
  impulse: vectorAt(rows, at + jointAt.impulse),
  torque: vectorAt(rows, at + jointAt.torque),
  position_error: valueAt(rows, at + jointAt.error),
})
