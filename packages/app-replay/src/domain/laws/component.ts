/** Reading numbers out of blocks, in the loops over every body of every frame. */
import { stateAt } from '@causeway/recording'

/** A number of a block; NaN beyond its end, as for what was never recorded. */
export const num = (block: Float64Array, index: number): number => block[index] ?? Number.NaN

/** Squares beyond which a sum of three loses digits or overflows. */
const [tiny, huge] = [1e-280, 1e280]

/** Euclidean length; `hypot` only where squares leave the range of numbers, since it is ten times as slow. */
export function length3(x: number, y: number, z: number): number {
  const square = x * x + y * y + z * z
  return square > tiny && square < huge ? Math.sqrt(square) : Math.hypot(x, y, z)
}

/** Angular velocity in the world frame: the recorded one, turned by the orientation. */
export function worldSpin(s: Float64Array, at: number): readonly [number, number, number] {
  const q = at + stateAt.orientation
  const [w, x, y, z] = [num(s, q), num(s, q + 1), num(s, q + 2), num(s, q + 3)]
  const o = at + stateAt.spin
  const [a, b, c] = [num(s, o), num(s, o + 1), num(s, o + 2)]
  const [tx, ty, tz] = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)]
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx]
}
