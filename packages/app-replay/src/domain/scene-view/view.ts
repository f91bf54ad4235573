/** Views of a scene: parallel projections along an axis, or askew. */
import type { Vector } from '@causeway/recording'

/** A place in the world, m, all of it known. */
export type Place = readonly [x: number, y: number, z: number]

/** A place in a view, m: to the right, and up. */
export type Projected = readonly [right: number, up: number]

/** From where a scene is looked at: from above, along +y, along -x, or from the front right above. */
export const viewNames = ['front', 'side', 'top', 'iso'] as const
export type ViewName = (typeof viewNames)[number]

/** Right and up of each view, in the world. */
const views: Readonly<Record<ViewName, readonly [right: Place, up: Place]>> = {
  front: [
    [1, 0, 0],
    [0, 0, 1],
  ],
  side: [
    [0, 1, 0],
    [0, 0, 1],
  ],
  top: [
    [1, 0, 0],
    [0, 1, 0],
  ],
  iso: [
    [Math.SQRT1_2, Math.SQRT1_2, 0],
    [-1 / Math.sqrt(6), 1 / Math.sqrt(6), 2 / Math.sqrt(6)],
  ],
}

export const add = (a: Place, b: Place, factor = 1): Place => [
  a[0] + factor * b[0],
  a[1] + factor * b[1],
  a[2] + factor * b[2],
]
const scalar = (a: Place, b: Place): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

/** Where a view shows a place, or a direction. */
export function projector(view: ViewName): (place: Place) => Projected {
  const [right, up] = views[view]
  return (place) => [scalar(place, right), scalar(place, up)]
}

/** A recorded vector whose components are all finite, else null. */
export function known({ x, y, z }: Vector): Place | null {
  if (x === null || y === null || z === null) return null
  return [x, y, z].every(Number.isFinite) ? [x, y, z] : null
}

/** The convex outline of some places, counter-clockwise (Andrew 1979, https://doi.org/10.1016/0020-0190(79)90072-3). */
export function outline(places: readonly Projected[]): Projected[] {
  const sorted = places.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
  const half = (ordered: readonly Projected[]): Projected[] => {
    const hull: Projected[] = []
    for (const place of ordered) {
      while (hull.length >= 2 && turn(hull.at(-2) ?? place, hull.at(-1) ?? place, place) <= 0) hull.pop()
      hull.push(place)
    }
    return hull.slice(0, -1)
  }
  return [...half(sorted), ...half(sorted.toReversed())]
}

const turn = (o: Projected, a: Projected, b: Projected): number =>
  (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
