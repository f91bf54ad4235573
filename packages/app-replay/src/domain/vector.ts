/** Vectors and quaternions as recorded: a component that was not recorded makes the result absent, never 0. */
import type { Quaternion, Value, Vector } from '@causeway/recording'

const difference = (a: Value, b: Value): Value => (a === null || b === null ? null : a - b)

/** a - b, component by component. */
export const minus = (a: Vector, b: Vector): Vector => ({
  x: difference(a.x, b.x),
  y: difference(a.y, b.y),
  z: difference(a.z, b.z),
})

/** -a */
export const opposite = ({ x, y, z }: Vector): Vector => ({
  x: difference(0, x),
  y: difference(0, y),
  z: difference(0, z),
})

/** Euclidean length; `hypot` keeps it finite where squares of the components overflow (diverged runs reach 1e195). */
export function norm({ x, y, z }: Vector): Value {
  return x === null || y === null || z === null ? null : Math.hypot(x, y, z)
}

/** Scalar product. */
export function dot(a: Vector, b: Vector): Value {
  if (a.x === null || a.y === null || a.z === null || b.x === null || b.y === null || b.z === null)
    return null
  return a.x * b.x + a.y * b.y + a.z * b.z
}

/** The part of `v` along the unit vector `axis`, and the length of the rest, both in the unit of `v`. */
export function split(v: Vector, axis: Vector): { along: Value; across: Value } {
  const along = dot(v, axis)
  if (along === null) return { along, across: null }
  const { x, y, z } = axis
  const rest = minus(v, { x: along * (x ?? 0), y: along * (y ?? 0), z: along * (z ?? 0) })
  return { along, across: norm(rest) }
}

/** Angle of the rotation that leads from `a` to `b`, rad, 0 to pi; exact for small angles, and q and -q are the same. */
export function rotationAngle(a: Quaternion, b: Quaternion): Value {
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
