/** a + factor b */
export const add = (a, b, factor = 1) => [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]]

export const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]

/** Returns the row of an array of rows. */
export const take = (numbers, row, width = 3) => [...numbers.subarray(width * row, width * (row + 1))]

/** w first */
export const multiplyQuaternions = ([aw, ax, ay, az], [bw, bx, by, bz]) => [
  aw * bw - ax * bx - ay * by - az * bz,
  aw * bx + ax * bw + ay * bz - az * by,
  aw * by - ax * bz + ay * bw + az * bx,
  aw * bz + ax * by - ay * bx + az * bw,
]

/** Rotates a vector by a quaternion, w first. */
export function rotate([w, x, y, z], vector) {
  const turned = cross([x, y, z], vector)
  return add(add(vector, turned, 2 * w), cross([x, y, z], turned), 2)
}

export const conjugate = ([w, x, y, z]) => [w, -x, -y, -z]

/** Lists the components of an object `{x, y, z}`, or of a quaternion `{x, y, z, w}` with w first. */
export const toList = ({ x, y, z, w }) => (w === undefined ? [x, y, z] : [w, x, y, z])

export const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])

/** The axis along which gravity is largest. */
export const findUp = (gravity) => {
  const [x, y, z] = gravity.map(Math.abs)
  return z > y || (z === y && x > y) ? 'z' : 'y'
}
