import { type Bounds, type LonLat, unwrapPath } from '@causeway/plot'

/** A ring of land. Its longitudes are unwrapped unless it surrounds a pole. */
export interface LandRing {
  readonly points: readonly LonLat[]
  readonly bounds: Bounds
}

export function createLandRing(ring: readonly LonLat[]): LandRing {
  const [start = [0, 0]] = ring
  const unwrapped = unwrapPath(ring, start[0])
  // An unwrapped ring around a pole does not end at its first longitude.
  const isClosed = Math.abs((unwrapped.at(-1) ?? start)[0] - start[0]) < 180
  const points = isClosed ? unwrapped : ring
  const [lons, lats] = [points.map(([lon]) => lon), points.map(([, lat]) => lat)]
  return { points, bounds: [Math.min(...lons), Math.min(...lats), Math.max(...lons), Math.max(...lats)] }
}

interface Land {
  readonly areas: readonly (readonly LonLat[])[]
  readonly coast: readonly (readonly LonLat[])[]
}

/** Minimum longitude span of a ring around a pole. */
const aroundPole = 359

/** Selects rings by latitude for a polar chart, on which a ring around a pole encloses an area. */
export function selectLand(rings: readonly LandRing[], [, south, , north]: Bounds): Land {
  const surroundsPole = ({ bounds: [west, low, east, high] }: LandRing): boolean =>
    east - west >= aroundPole && low + high > 0 === south + north > 0
  const areas = rings
    .filter((ring) => (ring.bounds[1] <= north && ring.bounds[3] >= south) || surroundsPole(ring))
    .map(({ points }) => points)
  return { areas, coast: areas }
}

/** Clips land to bounds with a margin. The bounds may cross the antimeridian. */
export function clipLand(rings: readonly LandRing[], bounds: Bounds): Land {
  const margin = Math.max(bounds[2] - bounds[0], bounds[3] - bounds[1]) * 0.05
  const box: Bounds = [bounds[0] - margin, bounds[1] - margin, bounds[2] + margin, bounds[3] + margin]
  const areas: (readonly LonLat[])[] = []
  const coast: (readonly LonLat[])[] = []
  for (const turn of [-360, 0, 360])
    for (const ring of rings) {
      const [west, south, east, north] = ring.bounds
      if (west + turn > box[2] || east + turn < box[0] || south > box[3] || north < box[1]) continue
      const points = turn === 0 ? ring.points : ring.points.map(([lon, lat]): LonLat => [lon + turn, lat])
      const area = clipRing(points, box)
      if (area.length < 3) continue
      areas.push(area)
      coast.push(...findCoast(points, box))
    }
  return { areas, coast }
}

/** Uses the algorithm of Sutherland and Hodgman, CACM 17, 1974. */
function clipRing(ring: readonly LonLat[], [west, south, east, north]: Bounds): readonly LonLat[] {
  const edges: readonly (readonly [axis: 0 | 1, limit: number, sign: 1 | -1])[] = [
    [0, west, 1],
    [0, east, -1],
    [1, south, 1],
    [1, north, -1],
  ]
  let points = ring
  for (const [axis, limit, sign] of edges) {
    const depth = (point: LonLat): number => (point[axis] - limit) * sign
    const clipped: LonLat[] = []
    for (const [index, point] of points.entries()) {
      const before = points.at(index - 1) ?? point
      if (depth(point) >= 0 !== depth(before) >= 0)
        clipped.push(interpolate(before, point, depth(before) / (depth(before) - depth(point))))
      if (depth(point) >= 0) clipped.push(point)
    }
    points = clipped
    if (points.length === 0) return points
  }
  return points
}

const interpolate = (a: LonLat, b: LonLat, share: number): LonLat => [
  a[0] + (b[0] - a[0]) * share,
  a[1] + (b[1] - a[1]) * share,
]

/** Returns the ring's edges, except those along the antimeridian and at the South Pole. */
function findCoast(
  ring: readonly LonLat[],
  [west, south, east, north]: Bounds,
): readonly (readonly LonLat[])[] {
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
