/** Reading numbers out of blocks, in the loops over every body of every frame. */

/** A number of a block; NaN beyond its end, as for what was never recorded. */
export const num = (block: Float64Array, index: number): number => block[index] ?? Number.NaN

/** Squares beyond which a sum of three loses digits or overflows. */
const [tiny, huge] = [1e-280, 1e280]

/** Euclidean length; `hypot` only where squares leave the range of numbers, since it is ten times as slow. */
export function length3(x: number, y: number, z: number): number {
  const square = x * x + y * y + z * z
  return square > tiny && square < huge ? Math.sqrt(square) : Math.hypot(x, y, z)
}
