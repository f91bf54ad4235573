import {
  type Bounds,
  createBoundsPolygon,
  type Feature,
  findBounds,
  findNearestLongitude,
  type Geometry,
  listParts,
  type Position,
  unwrapBounds,
  unwrapLongitudes,
} from '@causeway/plot'
import { booleanIntersects } from '@turf/boolean-intersects'

export const findFeatureBounds = (features: readonly Feature[]): Bounds | null =>
  findBounds(features.flatMap(({ geometry }) => listParts(geometry)))

/** Whether the geometry, and not only its bounds, intersects the box. */
export function intersectsBox(feature: Feature, box: Bounds): boolean {
  const featureBounds = findFeatureBounds([feature])
  const { geometry } = feature
  if (featureBounds === null || geometry === null) return false
  const [west, south, east, north] = unwrapBounds(box)
  if (featureBounds[1] > north || featureBounds[3] < south) return false
  const fitsLatitudes = featureBounds[1] >= south && featureBounds[3] <= north
  for (const offset of [-360, 0, 360]) {
    const [left, right] = [featureBounds[0] + offset, featureBounds[2] + offset]
    if (left > east || right < west) continue
    if (fitsLatitudes && left >= west && right <= east) return true
    return booleanIntersects(
      toGeoJson(geometry, (west + east) / 2),
      createBoundsPolygon([west, south, east, north]),
    )
  }
  return false
}

/** Unwraps longitudes and shifts them by a multiple of 360 degrees, so that they are near a meridian. */
function toGeoJson(geometry: Geometry, meridian: number): GeoJSON.Geometry {
  const unwrapPart = (part: readonly Position[]): number[][] => {
    const lons = unwrapLongitudes(part.map(([lon = 0]) => lon))
    const middle = ((lons[0] ?? 0) + (lons.at(-1) ?? 0)) / 2
    const offset = findNearestLongitude(middle, meridian) - middle
    return part.map(([, lat = 0], index) => [(lons[index] ?? 0) + offset, lat])
  }
  const parts = listParts(geometry).filter((part) => part.length > 0)
  switch (geometry.type) {
    case 'Point':
    case 'MultiPoint':
      return {
        type: 'MultiPoint',
        coordinates: parts.flatMap((part) => part.flatMap((point) => unwrapPart([point]))),
      }
    case 'LineString':
    case 'MultiLineString':
      return { type: 'MultiLineString', coordinates: parts.map(unwrapPart) }
    case 'Polygon':
      return { type: 'Polygon', coordinates: parts.map(unwrapPart) }
    default:
      return {
        type: 'MultiPolygon',
        coordinates: (geometry.coordinates as Position[][][]).map((rings) => rings.map(unwrapPart)),
      }
  }
}
