import type { BodyGeometry, BodyId } from '@causeway/recording'
import { type Point3, type Rotation, rotate } from '../vector.ts'

/** A shape in the axes of its body, m. A capsule lies along z. A mesh has its bounding box and outermost vertices. */
export type Shape =
  | { readonly box: Point3; readonly outline: readonly Point3[] }
  | { readonly box: Point3 }
  | { readonly radius: number }
  | { readonly radius: number; readonly halfLength: number }

/** The normal points out of the ground. */
export interface Ground {
  readonly body: BodyId
  readonly at: Point3
  readonly normal: Point3
}

/** An environment body with a finite shape. */
export interface FixedBody {
  readonly body: BodyId
  readonly at: Point3
  readonly rotation: Rotation
  readonly shape: Shape
}

/** Known shapes and names of bodies. */
export interface SceneGeometry {
  readonly shapes: ReadonlyMap<BodyId, Shape>
  readonly grounds: readonly Ground[]
  readonly fixed: readonly FixedBody[]
  readonly names: ReadonlyMap<BodyId, string>
}

/** Returns a box if only half extents are known. */
export function toShape({ shape, half_extents }: BodyGeometry): Shape | null {
  if (shape?.kind === 'sphere') return { radius: shape.radius }
  if (shape?.kind === 'capsule') return { radius: shape.radius, halfLength: shape.half_length }
  return half_extents === null || shape?.kind === 'plane' ? null : { box: half_extents }
}

export function toEnvironment(geometry: BodyGeometry): Ground | FixedBody | null {
  const { body_id: body, shape, position, orientation } = geometry
  const [x, y, z] = position ?? []
  if (x === undefined || y === undefined || z === undefined) return null
  const at: Point3 = [x, y, z]
  const [w = 1, i = 0, j = 0, k = 0] = orientation ?? []
  const rotation: Rotation = [w, i, j, k]
  if (shape?.kind === 'plane') return { body, at, normal: rotate(rotation, [0, 0, 1]) }
  const geometryShape = toShape(geometry)
  return geometryShape && { body, at, rotation, shape: geometryShape }
}

const minCorners = 3

/** Relative to the radius. */
const cornerTolerance = 0.05

/** Returns a box or a ball for contact points in a body's axes; `null` without a radius. */
export function inferShape(points: readonly Point3[]): Shape | null {
  const radius = Math.max(0, ...points.map(([x, y, z]) => Math.hypot(x, y, z)))
  if (radius === 0) return null
  const half = [0, 1, 2].map((axis) => Math.max(...points.map((point) => Math.abs(point[axis] ?? 0))))
  const isCorner = (point: Point3): boolean =>
    half.every((size, axis) => Math.abs(Math.abs(point[axis] ?? 0) - size) <= cornerTolerance * radius)
  const [x = 0, y = 0, z = 0] = half
  const corners = points.filter(isCorner).length
  if (corners >= minCorners && corners >= points.length / 2 && Math.min(x, y, z) > cornerTolerance * radius)
    return { box: [x, y, z] }
  return { radius }
}

export const listCorners = ([x, y, z]: Point3): Point3[] =>
  [-1, 1].flatMap((i) => [-1, 1].flatMap((j) => [-1, 1].map((k): Point3 => [i * x, j * y, k * z])))

/** Edges of a box: pairs of indexes of `listCorners`. */
export const edges: readonly (readonly [number, number])[] = [1, 2, 4].flatMap((bit) =>
  [0, 1, 2, 3, 4, 5, 6, 7]
    .filter((corner) => (corner & bit) === 0)
    .map((corner) => [corner, corner | bit] as const),
)
