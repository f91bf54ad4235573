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

const minPolarRingWidth = 359

/** Selects rings by latitude for a polar chart, on which a ring around a pole encloses an area. */
export function selectLand(rings: readonly LandRing[], [, south, , north]: Bounds): Land {
  const enclosesPole = ({ bounds: [west, low, east, high] }: LandRing): boolean =>
    east - west >= minPolarRingWidth && low + high > 0 === south + north > 0
  const areas = rings
    .filter((ring) => (ring.bounds[1] <= north && ring.bounds[3] >= south) || enclosesPole(ring))
    .map(({ points }) => points)
  return { areas, coast: areas }
}

/** Clips land to bounds with a margin of 5 % of the longer side. The bounds can cross the antimeridian. */
export function clipLand(rings: readonly LandRing[], bounds: Bounds): Land {
  const margin = Math.max(bounds[2] - bounds[0], bounds[3] - bounds[1]) * 0.05
  const box: Bounds = [bounds[0] - margin, bounds[1] - margin, bounds[2] + margin, bounds[3] + margin]
  const areas: (readonly LonLat[])[] = []
  const coast: (readonly LonLat[])[] = []
  for (const offset of [-360, 0, 360])
    for (const ring of rings) {
      const [west, south, east, north] = ring.bounds
      if (west + offset > box[2] || east + offset < box[0] || south > box[3] || north < box[1]) continue
      const points = offset === 0 ? ring.points : ring.points.map(([lon, lat]): LonLat => [lon + offset, lat])
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
    const distanceInside = (point: LonLat): number => (point[axis] - limit) * sign
    const clippedPoints: LonLat[] = []
    for (const [index, point] of points.entries()) {
      const previous = points.at(index - 1) ?? point
      if (distanceInside(point) >= 0 !== distanceInside(previous) >= 0)
        clippedPoints.push(
          interpolate(
            previous,
            point,
            distanceInside(previous) / (distanceInside(previous) - distanceInside(point)),
          ),
        )
      if (distanceInside(point) >= 0) clippedPoints.push(point)
    }
    points = clippedPoints
    if (points.length === 0) return points
  }
  return points
}

const interpolate = (a: LonLat, b: LonLat, fraction: number): LonLat => [
  a[0] + (b[0] - a[0]) * fraction,
  a[1] + (b[1] - a[1]) * fraction,
]

/** Returns the ring's edges in the bounds, except edges along the antimeridian and at the South Pole. */
function findCoast(
  ring: readonly LonLat[],
  [west, south, east, north]: Bounds,
): readonly (readonly LonLat[])[] {
  const isInBounds = ([lon, lat]: LonLat): boolean =>
    lon >= west && lon <= east && lat >= south && lat <= north
  const isClipEdge = (a: LonLat, b: LonLat): boolean =>
    (a[0] === b[0] && Math.abs(Math.abs(a[0]) % 360) === 180) || (a[1] === b[1] && a[1] <= -89)
  const lines: LonLat[][] = []
  let line: LonLat[] = []
  for (const [index, point] of ring.entries()) {
    const previous = ring[index - 1]
    if (
      previous === undefined ||
      isClipEdge(previous, point) ||
      !(isInBounds(previous) || isInBounds(point))
    ) {
      if (line.length > 1) lines.push(line)
      line = [point]
    } else line.push(point)
  }
  if (line.length > 1) lines.push(line)
  return lines
}
