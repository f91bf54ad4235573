/** Land cut to what a map shows. */
import { type Bounds, overlap } from '../bounds.ts'
import type { LonLat } from '../feature.ts'

/** A ring of land, longitudes -180 to 180, with the box around it. */
export interface LandRing {
  readonly points: readonly LonLat[]
  readonly bounds: Bounds
}

/** Land as it is drawn: areas to fill, and the coast to draw, without the edges that cutting made. */
export interface Land {
  readonly areas: readonly (readonly LonLat[])[]
  readonly coast: readonly (readonly LonLat[])[]
}

/** The land within a box, also where the box lies over the antimeridian; a margin keeps the cut out of sight. */
export function landWithin(rings: readonly LandRing[], bounds: Bounds): Land {
  const margin = Math.max(bounds[2] - bounds[0], bounds[3] - bounds[1]) * 0.05
  const box: Bounds = [bounds[0] - margin, bounds[1] - margin, bounds[2] + margin, bounds[3] + margin]
  const areas: (readonly LonLat[])[] = []
  const coast: (readonly LonLat[])[] = []
  for (const turn of [-360, 0, 360])
    for (const ring of rings) {
      const [west, south, east, north] = ring.bounds
      if (
        west + turn > box[2] ||
        east + turn < box[0] ||
        !overlap([-1, south, 1, north], [-1, box[1], 1, box[3]])
      )
        continue
      const points = turn === 0 ? ring.points : ring.points.map(([lon, lat]): LonLat => [lon + turn, lat])
      const area = clipped(points, box)
      if (area.length < 3) continue
      areas.push(area)
      coast.push(...shore(points, box))
    }
  return { areas, coast }
}

/** The part of a ring within a box (Sutherland and Hodgman, CACM 17, 1974). */
function clipped(ring: readonly LonLat[], [west, south, east, north]: Bounds): readonly LonLat[] {
  const edges: readonly (readonly [axis: 0 | 1, limit: number, sign: 1 | -1])[] = [
    [0, west, 1],
    [0, east, -1],
    [1, south, 1],
    [1, north, -1],
  ]
  let points = ring
  for (const [axis, limit, sign] of edges) {
    const depth = (point: LonLat): number => (point[axis] - limit) * sign
    const kept: LonLat[] = []
    for (const [index, point] of points.entries()) {
      const before = points.at(index - 1) ?? point
      if (depth(point) >= 0 !== depth(before) >= 0)
        kept.push(between(before, point, depth(before) / (depth(before) - depth(point))))
      if (depth(point) >= 0) kept.push(point)
    }
    points = kept
    if (points.length === 0) return points
  }
  return points
}

const between = (a: LonLat, b: LonLat, share: number): LonLat => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
]

/** The runs of a ring near a box, broken where the ring follows the antimeridian: no coast is there. */
function shore(ring: readonly LonLat[], [west, south, east, north]: Bounds): readonly (readonly LonLat[])[] {
  const isNear = ([lon, lat]: LonLat): boolean => lon >= west && lon <= east && lat >= south && lat <= north
  const isCut = (a: LonLat, b: LonLat): boolean =>
    (a[0] === b[0] && Math.abs(Math.abs(a[0]) % 360) === 180) || (a[1] === b[1] && a[1] <= -89)
  const runs: LonLat[][] = []
  let run: LonLat[] = []
  for (const [index, point] of ring.entries()) {
    const before = ring[index - 1]
    if (before === undefined || isCut(before, point) || !(isNear(before) || isNear(point))) {
      if (run.length > 1) runs.push(run)
      run = [point]
    } else run.push(point)
  }
  if (run.length > 1) runs.push(run)
  return runs
}
