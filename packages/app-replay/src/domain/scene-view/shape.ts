/** What bodies look like: the box of their mesh, or what their contacts tell of their size. */
import type { BodyId } from '@causeway/recording'
import type { Place } from './view.ts'

/** A body's outline in its own frame, m. */
export type Shape = { readonly box: Place } | { readonly radius: number }

/** A plane of the environment: a place on it, and its normal out of the ground. */
export interface Ground {
  readonly body: BodyId
  readonly at: Place
  readonly normal: Place
}

/** What is known of the looks of a scene; bodies that nothing tells of are absent. */
export interface Looks {
  readonly shapes: ReadonlyMap<BodyId, Shape>
  readonly grounds: readonly Ground[]
}

/** A rotation, w first. */
export type Turn = readonly [w: number, x: number, y: number, z: number]

/** A vector of the body's frame in the world. */
export function turned([w, x, y, z]: Turn, [a, b, c]: Place): Place {
  const [tx, ty, tz] = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)]
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx]
}

/** A vector of the world in the body's frame. */
export const unturned = ([w, x, y, z]: Turn, v: Place): Place => turned([w, -x, -y, -z], v)

/** Contact points that are enough to tell a box from a sphere. */
const enough = 3

/** Contacts at the corners of a box have the same distances from its middle planes, within this share. */
const cornerTolerance = 0.05

/** The shape that explains contact points of a body, given in its frame; null where there are none. */
export function shapeOfContacts(points: readonly Place[]): Shape | null {
  const radius = Math.max(0, ...points.map(([x, y, z]) => Math.hypot(x, y, z)))
  if (radius === 0) return null
  const half = [0, 1, 2].map((axis) => Math.max(...points.map((point) => Math.abs(point[axis] ?? 0))))
  const isCorner = (point: Place): boolean =>
    half.every((size, axis) => Math.abs(Math.abs(point[axis] ?? 0) - size) <= cornerTolerance * radius)
  const [x = 0, y = 0, z = 0] = half
  const corners = points.filter(isCorner).length
  if (corners >= enough && corners >= points.length / 2 && Math.min(x, y, z) > cornerTolerance * radius)
    return { box: [x, y, z] }
  return { radius }
}

/** The corners of a box around its centre, in its frame. */
export const cornersOf = ([x, y, z]: Place): Place[] =>
  [-1, 1].flatMap((i) => [-1, 1].flatMap((j) => [-1, 1].map((k): Place => [i * x, j * y, k * z])))

/** Pairs of corners, as indexes of `cornersOf`, that an edge joins. */
export const edges: readonly (readonly [number, number])[] = [
  ...([
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
  ] as const),
  ...([
    [0, 2],
    [1, 3],
    [4, 6],
    [5, 7],
  ] as const),
  ...([
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7],
  ] as const),
]
