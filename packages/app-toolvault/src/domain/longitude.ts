/** Longitudes on a circle: lines are unwrapped before they are computed with, and normalised when they are given back. */
import type { Bounds } from './command.ts'
import type { Feature, Position } from './feature.ts'
import { partsOf } from './feature.ts'

/** An interval of longitudes, degrees, west to east; the east end is above 180 where it crosses the antimeridian. */
export type LonSpan = readonly [west: number, east: number]

/** Within -180 to 180; 180 stays 180. */
export function normalLon(lon: number): number {
  if (lon >= -180 && lon <= 180) return lon
  return ((((lon + 180) % 360) + 360) % 360) - 180
}

/** The longitude of the same meridian that is nearest to another one. */
export const lonNear = (lon: number, reference: number): number =>
  lon - 360 * Math.round((lon - reference) / 360)

/** The longitudes of a line without jumps: each is within half a turn of the one before. */
export function unwrapped(lons: readonly number[]): number[] {
  const out: number[] = []
  for (const lon of lons) out.push(out.length === 0 ? lon : lonNear(lon, out.at(-1) ?? lon))
  return out
}

/** The smallest span that holds all others; the widest gap on the circle is left out. */
export function spanOf(spans: readonly LonSpan[]): LonSpan | undefined {
  const sorted = spans
    .map(([west, east]): LonSpan => {
      const start = normalLon(west)
      return [start, start + (east - west)]
    })
    .sort(([a], [b]) => a - b)
  const [first] = sorted
  if (first === undefined) return undefined
  let reach = first[1]
  let gap = { width: -1, from: first[0] }
  for (const [west, east] of sorted.slice(1)) {
    if (west - reach > gap.width) gap = { width: west - reach, from: west }
    reach = Math.max(reach, east)
  }
  // The gap over the antimeridian: from the easternmost end to the first start, a turn later.
  if (first[0] + 360 - reach >= gap.width) gap = { width: first[0] + 360 - reach, from: first[0] }
  if (gap.width <= 0) return [-180, 180]
  const ends = sorted.map(([west, east]) => (west < gap.from ? east + 360 : east))
  return [gap.from, Math.max(...ends)]
}

/** The box around positions, each list unwrapped by itself; undefined where there are none. */
export function boundsOf(features: readonly Feature[]): Bounds | undefined {
  const boxes: Bounds[] = []
  for (const { geometry } of features)
    for (const part of partsOf(geometry)) if (part.length > 0) boxes.push(boxOf(part))
  const [first, ...more] = boxes
  if (first === undefined) return undefined
  if (more.length === 0) {
    const west = normalLon(first[0])
    return [west, first[1], west + first[2] - first[0], first[3]]
  }
  const lon = spanOf(boxes.map(([west, , east]) => [west, east]))
  if (lon === undefined) return undefined
  const south = boxes.reduce((least, box) => Math.min(least, box[1]), 90)
  const north = boxes.reduce((most, box) => Math.max(most, box[3]), -90)
  return [lon[0], south, lon[1], north]
}

/** The box around one list; its longitudes are unwrapped from the first on. */
function boxOf(part: readonly Position[]): Bounds {
  let last = part[0]?.[0] ?? 0
  let [west, south, east, north] = [last, 90, last, -90]
  for (const [lon = 0, lat = 0] of part) {
    last = lonNear(lon, last)
    if (last < west) west = last
    if (last > east) east = last
    if (lat < south) south = lat
    if (lat > north) north = lat
  }
  return [west, south, east, north]
}
