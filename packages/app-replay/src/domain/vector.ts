/** If a component was not recorded, results are `null`, never 0. */
import type { Quaternion, Value, Vector } from '@causeway/recording'

const difference = (a: Value, b: Value): Value => (a === null || b === null ? null : a - b)

export const subtract = (a: Vector, b: Vector): Vector => ({
  x: difference(a.x, b.x),
  y: difference(a.y, b.y),
  z: difference(a.z, b.z),
})

export const negate = ({ x, y, z }: Vector): Vector => ({
  x: difference(0, x),
  y: difference(0, y),
  z: difference(0, z),
})

/** Uses `hypot`, which remains finite if squares overflow: diverged runs reach 1e195. */
export function norm({ x, y, z }: Vector): Value {
  return x === null || y === null || z === null ? null : Math.hypot(x, y, z)
}

export function dot(a: Vector, b: Vector): Value {
  if (a.x === null || a.y === null || a.z === null || b.x === null || b.y === null || b.z === null)
    return null
  return a.x * b.x + a.y * b.y + a.z * b.z
}

/** `axis` is a unit vector. `across` is the length of the remainder. */
export function splitAlong(v: Vector, axis: Vector): { along: Value; across: Value } {
  const along = dot(v, axis)
  if (along === null) return { along, across: null }
  const { x, y, z } = axis
  const perpendicular = subtract(v, { x: along * (x ?? 0), y: along * (y ?? 0), z: along * (z ?? 0) })
  return { along, across: norm(perpendicular) }
}

/** Returns the angle in rad, 0 to pi. Exact for small angles; q and -q are the same rotation. */
export function getRotationAngle(a: Quaternion, b: Quaternion): Value {
  const [aw, ax, ay, az] = [a.w, a.x, a.y, a.z]
  const [bw, bx, by, bz] = [b.w, b.x, b.y, b.z]
  if (aw === null || ax === null || ay === null || az === null) return null
  if (bw === null || bx === null || by === null || bz === null) return null
  const scalar = aw * bw + ax * bx + ay * by + az * bz
  const vector = Math.hypot(
    aw * bx - ax * bw - ay * bz + az * by,
    aw * by + ax * bz - ay * bw - az * bx,
    aw * bz - ax * by + ay * bx - az * bw,
  )
  return 2 * Math.atan2(vector, Math.abs(scalar))
}

export type Point3 = readonly [x: number, y: number, z: number]

export type Rotation = readonly [w: number, x: number, y: number, z: number]

export const add = (a: Point3, b: Point3, factor = 1): Point3 => [
  a[0] + factor * b[0],
  a[1] + factor * b[1],
  a[2] + factor * b[2],
]

export const distance = (a: Point3, b: Point3): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])

export function rotate([w, x, y, z]: Rotation, [a, b, c]: Point3): Point3 {
  const [tx, ty, tz] = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)]
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx]
}

export const rotateInverse = ([w, x, y, z]: Rotation, v: Point3): Point3 => rotate([w, -x, -y, -z], v)

export const dot3 = (a: Point3, b: Point3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

export const cross = (a: Point3, b: Point3): Point3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]
