import type { BodyGeometry } from '@causeway/recording'
import type { Point3, Rotation } from '../vector.ts'

/** A sphere or capsule along z (`round`), a box, or the half-space below z = 0. Lengths in m. */
export type Solid =
  | { readonly kind: 'round'; readonly radius: number; readonly halfLength: number; readonly bound: number }
  | { readonly kind: 'box'; readonly half: Point3; readonly bound: number }
  | { readonly kind: 'plane'; readonly bound: number }

export interface Pose {
  readonly at: Point3
  readonly rotation: Rotation
}

/** Returns `undefined` if the shape was not recorded. */
export function toSolid({ shape, half_extents: half }: BodyGeometry): Solid | undefined {
  if (shape === null) return undefined
  if (shape.kind === 'plane') return { kind: 'plane', bound: Number.POSITIVE_INFINITY }
  if (shape.kind === 'sphere')
    return { kind: 'round', radius: shape.radius, halfLength: 0, bound: shape.radius }
  if (shape.kind === 'capsule')
    return {
      kind: 'round',
      radius: shape.radius,
      halfLength: shape.half_length,
      bound: shape.radius + shape.half_length,
    }
  return half === null ? undefined : { kind: 'box', half, bound: Math.hypot(...half) }
}

/** Returns the size in m; infinity for a plane. */
export const getSmallestSize = (solid: Solid): number =>
  solid.kind === 'plane'
    ? Number.POSITIVE_INFINITY
    : solid.kind === 'box'
      ? Math.min(...solid.half)
      : solid.radius
