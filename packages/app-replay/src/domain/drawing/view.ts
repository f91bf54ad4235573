import type { Vector } from '@causeway/recording'
import { dot3, type Point3 } from '../vector.ts'

/** A point in a view, in m. */
export type Projected = readonly [right: number, up: number]

/** Parallel projections, seen along +y, along -x, from above, and from the upper front right. */
export const viewNames = ['front', 'side', 'top', 'iso'] as const
export type ViewName = (typeof viewNames)[number]

const views: Readonly<Record<ViewName, readonly [right: Point3, up: Point3]>> = {
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

export function createProjector(view: ViewName): (point: Point3) => Projected {
  const [right, up] = views[view]
  return (point) => [dot3(point, right), dot3(point, up)]
}

/** Returns `null` if a component is not finite. */
export function toPoint3({ x, y, z }: Vector): Point3 | null {
  if (x === null || y === null || z === null) return null
  return [x, y, z].every(Number.isFinite) ? [x, y, z] : null
}

/** Returns the convex hull, counter-clockwise (Andrew 1979, https://doi.org/10.1016/0020-0190(79)90072-3). */
export function computeConvexHull(points: readonly Projected[]): Projected[] {
  const sorted = points.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
  const buildHalf = (orderedPoints: readonly Projected[]): Projected[] => {
    const hull: Projected[] = []
    for (const point of orderedPoints) {
      while (hull.length >= 2 && getCrossProduct(hull.at(-2) ?? point, hull.at(-1) ?? point, point) <= 0)
        hull.pop()
      hull.push(point)
    }
    return hull.slice(0, -1)
  }
  return [...buildHalf(sorted), ...buildHalf(sorted.toReversed())]
}

const getCrossProduct = (o: Projected, a: Projected, b: Projected): number =>
  (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
