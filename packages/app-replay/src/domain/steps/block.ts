import { stateAt } from '@causeway/recording'
import type { Pose } from '../shapes/solid.ts'
import { type Point3, type Rotation, rotate } from '../vector.ts'

/** Returns NaN (not recorded) beyond the end of a block. */
export const num = (block: Float64Array, index: number): number => block[index] ?? Number.NaN

export const read3 = (block: Float64Array, at: number): Point3 => [
  num(block, at),
  num(block, at + 1),
  num(block, at + 2),
]

/** Range in which squares neither overflow nor lose digits. */
const [minSquare, maxSquare] = [1e-280, 1e280]

/** Uses `hypot`, which is ten times slower, only if squares are outside this range. */
export function length3(x: number, y: number, z: number): number {
  const square = x * x + y * y + z * z
  if (square > minSquare && square < maxSquare) return Math.sqrt(square)
  return x === 0 && y === 0 && z === 0 ? 0 : Math.hypot(x, y, z)
}

interface StateRow {
  readonly scene: { readonly bodies: readonly unknown[] }
  readonly row: number
}

export const getOffset = ({ scene, row }: StateRow, column: number): number =>
  (row * scene.bodies.length + column) * stateAt.width

export const getOffsetBefore = ({ scene, row }: StateRow, column: number): number =>
  ((row - 1) * scene.bodies.length + column) * stateAt.width

/** `at` is the offset of a body's state. */
export function readRotation(states: Float64Array, at: number): Rotation {
  const q = at + stateAt.orientation
  return [num(states, q), num(states, q + 1), num(states, q + 2), num(states, q + 3)]
}

export const readPose = (states: Float64Array, at: number): Pose => ({
  at: read3(states, at),
  rotation: readRotation(states, at),
})

export const readWorldSpin = (states: Float64Array, at: number): Point3 =>
  rotate(readRotation(states, at), read3(states, at + stateAt.spin))

/**
 * Returns a point's velocity in m/s. `at` is the offset of its body's state; `lever` starts at the body's centre.
 */
export function readVelocityAt(states: Float64Array, at: number, lever: Point3): Point3 {
  const [x, y, z] = read3(states, at + stateAt.velocity)
  const w = readWorldSpin(states, at)
  return [
    x + w[1] * lever[2] - w[2] * lever[1],
    y + w[2] * lever[0] - w[0] * lever[2],
    z + w[0] * lever[1] - w[1] * lever[0],
  ]
}
