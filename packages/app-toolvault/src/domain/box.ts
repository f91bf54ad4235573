/** Boxes of longitudes and latitudes, also across the antimeridian, and what lies in them. */
import { booleanIntersects } from '@turf/boolean-intersects'
import type { Bounds } from './command.ts'
import { type Feature, type Geometry, type Position, partsOf } from './feature.ts'
import { boundsOf, lonNear, unwrapped } from './longitude.ts'

/** With east at or above west: a box given as west > east crosses the antimeridian (RFC 7946, 5.2). */
export const eastward = ([west, south, east, north]: Bounds): Bounds =>
  east < west ? [west, south, east + 360, north] : [west, south, east, north]

/** The box around features, padded by a fraction of its size; a side below `least` degrees is widened to it. */
export function paddedBounds(
  features: readonly Feature[],
  { padding, least }: { readonly padding: number; readonly least: number },
): Bounds | undefined {
  const bounds = boundsOf(features)
  if (bounds === undefined) return undefined
  const [west, south, east, north] = bounds
  const lon = padded(west, east, { padding, least })
  const lat = padded(south, north, { padding, least })
  return [lon[0], Math.max(-90, lat[0]), Math.min(lon[1], lon[0] + 360), Math.min(90, lat[1])]
}

function padded(
  low: number,
  high: number,
  { padding, least }: { padding: number; least: number },
): readonly [number, number] {
  const missing = Math.max(0, least - (high - low)) / 2
  const margin = Math.max(high - low, least) * padding
  return [low - missing - margin, high + missing + margin]
}

/** True where a feature's geometry itself, and not only its box, has a point in common with the box; touching counts. */
export function touchesBox(feature: Feature, box: Bounds): boolean {
  const own = boundsOf([feature])
  const { geometry } = feature
  if (own === undefined || geometry === null) return false
  const [west, south, east, north] = eastward(box)
  if (own[1] > north || own[3] < south) return false
  const isBetween = own[1] >= south && own[3] <= north
  for (const turn of turns) {
    const lowest = own[0] + turn
    const highest = own[2] + turn
    if (lowest > east || highest < west) continue
    if (isBetween && lowest >= west && highest <= east) return true
    return booleanIntersects(moved(geometry, (west + east) / 2), rectangle([west, south, east, north]))
  }
  return false
}

/** A box and a geometry may be told a whole turn apart, degrees. */
const turns = [-360, 0, 360]

const rectangle = ([west, south, east, north]: Bounds) => ({
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

/** The geometry with its longitudes unwrapped, moved by whole turns next to a meridian. */
function moved(geometry: Geometry, meridian: number): GeoJSON.Geometry {
  const turn = (part: readonly Position[]): number[][] => {
    const lons = unwrapped(part.map(([lon = 0]) => lon))
    const middle = ((lons[0] ?? 0) + (lons.at(-1) ?? 0)) / 2
    const shift = lonNear(middle, meridian) - middle
    return part.map(([, lat = 0], index) => [(lons[index] ?? 0) + shift, lat])
  }
  const parts = partsOf(geometry).filter((part) => part.length > 0)
  switch (geometry.type) {
    case 'Point':
    case 'MultiPoint':
      return {
        type: 'MultiPoint',
        coordinates: parts.flatMap((part) => part.flatMap((point) => turn([point]))),
      }
    case 'LineString':
    case 'MultiLineString':
      return { type: 'MultiLineString', coordinates: parts.map(turn) }
    case 'Polygon':
      return { type: 'Polygon', coordinates: parts.map(turn) }
    default:
      return {
        type: 'MultiPolygon',
        coordinates: (geometry.coordinates as Position[][][]).map((rings) => rings.map(turn)),
      }
  }
}
