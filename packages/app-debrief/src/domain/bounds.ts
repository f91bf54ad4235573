/** Boxes around features, in degrees, also across the antimeridian. */
import { type LonLat, pathsOf } from './feature.ts'

/**
 * West, south, east, north, degrees. West is at most east; a box over the antimeridian has an east beyond 180
 * (RFC 7946 5.2 would write west > east; both are read, this one is written).
 */
export type Bounds = readonly [west: number, south: number, east: number, north: number]

/** The smallest box around these geometries; null without a position. Lines are followed the short way round. */
export function boundsOf(geometries: Iterable<unknown>): Bounds | null {
  const spans: (readonly [number, number])[] = []
  let south = Number.POSITIVE_INFINITY
  let north = Number.NEGATIVE_INFINITY
  for (const geometry of geometries)
    for (const path of pathsOf(geometry)) {
      let west = Number.POSITIVE_INFINITY
      let east = Number.NEGATIVE_INFINITY
      let last: number | undefined
      for (const [lon, lat] of path) {
        last = last === undefined ? lon : nearest(lon, last)
        west = Math.min(west, last)
        east = Math.max(east, last)
        south = Math.min(south, lat)
        north = Math.max(north, lat)
      }
      spans.push([west, east])
    }
  if (spans.length === 0) return null
  const [west, east] = covering(spans)
  return [west, south, east, north]
}

/** The smallest box around boxes; null ones are passed over. */
export function unionOf(boxes: readonly (Bounds | null)[]): Bounds | null {
  const known = boxes.filter((box) => box !== null)
  if (known.length === 0) return null
  const [west, east] = covering(known.map((box) => [box[0], box[2]]))
  const [south, north] = [
    known.reduce((least, box) => Math.min(least, box[1]), 90),
    known.reduce((most, box) => Math.max(most, box[3]), -90),
  ]
  return [west, south, east, north]
}

/** The longitude at the same place that is closest to another one. */
const nearest = (lon: number, to: number): number => lon - Math.round((lon - to) / 360) * 360

/** Positions of a path with longitudes that do not jump at the antimeridian, beginning near `start`. */
export function unwrapped(path: readonly LonLat[], start: number): readonly LonLat[] {
  let last = start
  return path.map(([lon, lat]) => {
    last = nearest(lon, last)
    return [last, lat]
  })
}

/** True where two boxes share a point. */
export function overlap(a: Bounds, b: Bounds): boolean {
  if (a[1] > b[3] || b[1] > a[3]) return false
  return [-360, 0, 360].some((turn) => a[0] + turn <= b[2] && b[0] <= a[2] + turn)
}

/** A box with a margin, a share of its size on each side; a box smaller than 0.001 degrees is first made that large. */
export function padded([west, south, east, north]: Bounds, share: number): Bounds {
  const [dx, dy] = [Math.max(0, 0.001 - (east - west)) / 2, Math.max(0, 0.001 - (north - south)) / 2]
  const [w, s, e, n] = [west - dx, south - dy, east + dx, north + dy]
  const [mx, my] = [(e - w) * share, (n - s) * share]
  return [w - mx, Math.max(-90, s - my), e + mx, Math.min(90, n + my)]
}

/** The smallest arc over all arcs: what is left when the widest gap between them is cut out. */
function covering(spans: readonly (readonly [number, number])[]): readonly [number, number] {
  const turned = spans
    .map(([west, east]) => [west - Math.floor((west + 180) / 360) * 360, east - west] as const)
    .map(([west, width]) => [west, west + width] as const)
    .sort((a, b) => a[0] - b[0])
  let [start, reach] = turned[0] as readonly [number, number]
  const first = start
  let gap = Number.NEGATIVE_INFINITY
  let [west, east] = [start, reach]
  for (const [from, to] of turned) {
    if (from - reach > gap && from > reach) {
      gap = from - reach
      west = from
      east = reach + 360
    }
    reach = Math.max(reach, to)
  }
  // The gap from the last arc round to the first one leaves the plain box.
  if (first + 360 - reach >= gap) {
    west = first
    east = reach
  }
  if (east - west >= 360) return [-180, 180]
  start = west > 180 ? west - 360 : west
  return [start, start + (east - west)]
}
