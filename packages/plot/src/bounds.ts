import type { Position } from './feature.ts'
import { coverSpans, findNearestLongitude, normalizeLongitude } from './longitude.ts'

/**
 * A box in degrees, with west <= east. Across the antimeridian, east exceeds 180, whereas RFC 7946, section 5.2, has
 * west > east. `unwrapBounds` accepts both forms.
 */
export type Bounds = readonly [west: number, south: number, east: number, north: number]

export const unwrapBounds = ([west, south, east, north]: Bounds): Bounds =>
  east < west ? [west, south, east + 360, north] : [west, south, east, north]

/**
 * Returns the smallest box around the paths, or `null` if they are empty. Lines take the shorter way around the earth.
 */
export function findBounds(paths: Iterable<readonly Position[]>): Bounds | null {
  const boxes: Bounds[] = []
  for (const path of paths) if (path.length > 0) boxes.push(findPathBounds(path))
  return uniteBounds(boxes)
}

function findPathBounds(path: readonly Position[]): Bounds {
  let lastLon = path[0]?.[0] ?? 0
  let [west, south, east, north] = [lastLon, 90, lastLon, -90]
  for (const [lon = 0, lat = 0] of path) {
    lastLon = findNearestLongitude(lon, lastLon)
    if (lastLon < west) west = lastLon
    if (lastLon > east) east = lastLon
    if (lat < south) south = lat
    if (lat > north) north = lat
  }
  return [west, south, east, north]
}

/** Returns the smallest box around boxes, or `null` without boxes. */
export function uniteBounds(boxes: readonly (Bounds | null)[]): Bounds | null {
  const definedBoxes = boxes.filter((box) => box !== null)
  const [first] = definedBoxes
  if (first === undefined) return null
  if (definedBoxes.length === 1 && first[2] - first[0] < 360) {
    const west = normalizeLongitude(first[0])
    return [west, first[1], west + first[2] - first[0], first[3]]
  }
  const [west, east] = coverSpans(definedBoxes.map((box) => [box[0], box[2]])) ?? [-180, 180]
  const south = definedBoxes.reduce((min, box) => Math.min(min, box[1]), 90)
  const north = definedBoxes.reduce((max, box) => Math.max(max, box[3]), -90)
  return [west, south, east, north]
}

export function areBoundsOverlapping(a: Bounds, b: Bounds): boolean {
  if (a[1] > b[3] || b[1] > a[3]) return false
  return [-360, 0, 360].some((offset) => a[0] + offset <= b[2] && b[0] <= a[2] + offset)
}

/** Minimum side in degrees. Smaller sides are enlarged before padding. */
const minSideDegrees = 0.001

/** Adds `padding` times the box size to each side. */
export function padBounds([west, south, east, north]: Bounds, padding: number): Bounds {
  const [left, right] = padSide(west, east, padding)
  const [bottom, top] = padSide(south, north, padding)
  return [left, Math.max(-90, bottom), Math.min(right, left + 360), Math.min(90, top)]
}

function padSide(low: number, high: number, padding: number): readonly [number, number] {
  const extension = Math.max(0, minSideDegrees - (high - low)) / 2
  const margin = Math.max(high - low, minSideDegrees) * padding
  return [low - extension - margin, high + extension + margin]
}

/** Lists corners in the order of plot files: SW, SE, NE, NW, SW. */
export const createBoundsPolygon = ([west, south, east, north]: Bounds) => ({
  type: 'Polygon' as const,
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
})
