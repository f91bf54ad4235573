/** A pose is a position and an orientation, w first. */

export type Vector3 = readonly [number, number, number]
export type Quaternion4 = readonly [number, number, number, number]

export interface Pose {
  readonly position: Vector3
  readonly orientation: Quaternion4
}

export function rotate([w, x, y, z]: Quaternion4, [a, b, c]: Vector3): Vector3 {
  // v + 2 u × (u × v + w v), where u is the vector part.
  const [p, q, r] = [y * c - z * b + w * a, z * a - x * c + w * b, x * b - y * a + w * c]
  return [a + 2 * (y * r - z * q), b + 2 * (z * p - x * r), c + 2 * (x * q - y * p)]
}

export const multiply = ([a, b, c, d]: Quaternion4, [e, f, g, h]: Quaternion4): Quaternion4 => [
  a * e - b * f - c * g - d * h,
  a * f + b * e + c * h - d * g,
  a * g - b * h + c * e + d * f,
  a * h + b * g - c * f + d * e,
]

/** `child` is the pose relative to `parent`. */
export function compose(parent: Pose, child: Pose): Pose {
  const [x, y, z] = rotate(parent.orientation, child.position)
  const [a, b, c] = parent.position
  return { position: [a + x, b + y, c + z], orientation: multiply(parent.orientation, child.orientation) }
}
