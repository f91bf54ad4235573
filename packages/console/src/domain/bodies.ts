import type { EstimatedShape, FrameResult, Metadata, RecordedGeometry } from '../data/replay.ts'
import type { Point3 } from './fit.ts'

/** A shape as it is drawn, in m. */
export type DrawnShape =
  | { readonly kind: 'box'; readonly halfExtents: Point3 }
  | { readonly kind: 'sphere'; readonly radius: number }
  | { readonly kind: 'capsule'; readonly radius: number; readonly half_length: number }
  /** A convex hull; `halfExtents` are those of the box around it. */
  | { readonly kind: 'hull'; readonly points: readonly Point3[]; readonly halfExtents: Point3 }

/** `source` is the origin of the shape. */
export interface SceneBody {
  readonly id: number
  readonly name: string
  readonly mass: number | null
  readonly shape: DrawnShape
  readonly source: 'recorded' | 'estimated' | 'unknown'
}

/** Edge of the box that represents a body of unknown shape, in m. */
const defaultEdge = 0.2

/** Returns each body with its recorded shape, otherwise an estimated one, otherwise a small box. */
export function toSceneBodies(
  { bodies, geometry = [] }: Pick<Metadata, 'bodies' | 'geometry'>,
  estimated: Readonly<Record<string, EstimatedShape>>,
): SceneBody[] {
  const geometryByBody = new Map(geometry.map((entry) => [entry.body_id, entry]))
  return bodies.map(({ body_id, mass }) => {
    const recordedGeometry = geometryByBody.get(body_id)
    const name = recordedGeometry?.name ?? `body ${body_id}`
    const estimatedShape = estimated[body_id]
    const mesh =
      estimatedShape === undefined || (recordedGeometry?.shape ?? null) !== null
        ? undefined
        : toHull(estimatedShape)
    const shape = mesh ?? (recordedGeometry && toRecordedShape(recordedGeometry))
    if (shape !== undefined) return { id: body_id, name, mass, shape, source: 'recorded' }
    if (estimatedShape === undefined) {
      const halfEdge = defaultEdge / 2
      return {
        id: body_id,
        name,
        mass,
        shape: { kind: 'box', halfExtents: [halfEdge, halfEdge, halfEdge] },
        source: 'unknown',
      }
    }
    const drawnShape: DrawnShape =
      'box' in estimatedShape
        ? { kind: 'box', halfExtents: estimatedShape.box }
        : { kind: 'sphere', radius: estimatedShape.radius }
    return { id: body_id, name, mass, shape: drawnShape, source: 'estimated' }
  })
}

function toRecordedShape({ shape, half_extents }: RecordedGeometry): DrawnShape | undefined {
  if (shape?.kind === 'sphere' || shape?.kind === 'capsule') return shape
  return half_extents === null ? undefined : { kind: 'box', halfExtents: half_extents }
}

function toHull(shape: EstimatedShape): DrawnShape | undefined {
  if (!('outline' in shape) || shape.outline === undefined) return undefined
  return { kind: 'hull', points: shape.outline, halfExtents: shape.box }
}

export function getRadius(shape: DrawnShape): number {
  if (shape.kind === 'box' || shape.kind === 'hull') return Math.hypot(...shape.halfExtents)
  return shape.kind === 'sphere' ? shape.radius : shape.radius + shape.half_length
}

/** The recorded velocity of a body, in m/s. */
export interface Velocity {
  readonly body: number
  readonly velocity: Point3
}

/** The velocities of a frame. In a frame with very many bodies, `listed` has fewer than `total`. */
export interface Velocities {
  readonly drawableVelocities: readonly Velocity[]
  readonly total: number
}

export function listVelocities({ states, counts }: FrameResult): Velocities {
  const drawableVelocities = states.flatMap(({ body_id, velocity: { x, y, z } }) =>
    x === null || y === null || z === null ? [] : [{ body: body_id, velocity: [x, y, z] as const }],
  )
  return {
    drawableVelocities,
    total: drawableVelocities.length + counts.states - states.length,
  }
}

/** Returns roll, pitch and yaw in degrees: rotations about x, then y, then z. `null` if a component is missing. */
export function toEulerDegrees({
  w,
  x,
  y,
  z,
}: FrameResult['states'][number]['orientation']): readonly [number, number, number] | null {
  if (w === null || x === null || y === null || z === null) return null
  const sine = Math.max(-1, Math.min(1, 2 * (w * y - z * x)))
  const angles = [
    Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
    Math.asin(sine),
    Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
  ] as const
  return [toDegrees(angles[0]), toDegrees(angles[1]), toDegrees(angles[2])]
}

const toDegrees = (angle: number): number => (angle * 180) / Math.PI
