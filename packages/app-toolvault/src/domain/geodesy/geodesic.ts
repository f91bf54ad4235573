/**
 * Geodesics on the WGS84 ellipsoid (C. F. F. Karney, Algorithms for geodesics, J. Geodesy 87, 2013), accurate to
 * nanometres. Units are degrees and metres. Bearings are from 0 to 360.
 */
import geographic from 'geographiclib-geodesic'

const { WGS84, DISTANCE } = geographic.Geodesic

/** Degrees. */
export interface LatLon {
  readonly lon: number
  readonly lat: number
}

export interface GeodesicPath {
  readonly distance_m: number
  readonly bearing_deg: number
  readonly final_bearing_deg: number
}

export const metresPerNauticalMile = 1852

export const metresPerSecondPerKnot = metresPerNauticalMile / 3600

/** Mean radius of the earth in metres (IUGG). */
export const earthMeanRadius = 6_371_008.8

/** Returns an angle from 0 to less than 360 degrees. */
export const normalizeBearing = (degrees: number): number => {
  if (degrees >= 0 && degrees < 360) return degrees
  const normalized = ((degrees % 360) + 360) % 360
  return normalized === 360 ? 0 : normalized
}

/** Returns an angle above -180 and up to 180 degrees. */
export const normalizeAngle = (degrees: number): number => {
  const normalized = normalizeBearing(degrees)
  return normalized > 180 ? normalized - 360 : normalized
}

/** Returns a bearing of 180 if the positions are equal, as GeographicLib does. */
export function solveInverse(a: LatLon, b: LatLon): GeodesicPath {
  const { s12 = 0, azi1 = 0, azi2 = 0 } = WGS84.Inverse(a.lat, a.lon, b.lat, b.lon)
  return {
    distance_m: s12,
    bearing_deg: normalizeBearing(azi1),
    final_bearing_deg: normalizeBearing(azi2),
  }
}

/** Distance in metres below which a bearing is undefined. */
const samePositionTolerance = 1e-6

/** Degrees within which angles count as equal. */
const angleTolerance = 1e-9

/**
 * Returns why the bearing is undefined, or `undefined`. Several shortest paths connect some opposite positions
 * (GeographicLib, "Multiple shortest geodesics").
 */
export function findBearingProblem(
  a: LatLon,
  b: LatLon,
  { distance_m, ...path }: GeodesicPath,
): string | undefined {
  if (distance_m < samePositionTolerance) return 'the places are the same'
  const bearingChange = Math.abs(normalizeAngle(path.bearing_deg - path.final_bearing_deg))
  const isOpposite = Math.abs(a.lat + b.lat) < angleTolerance
  if (isOpposite && 90 - Math.abs(a.lat) < angleTolerance)
    return 'the places are opposite: every line is a shortest one'
  const isOppositeMeridian = 180 - Math.abs(normalizeAngle(b.lon - a.lon)) < angleTolerance
  const isMeridian = Math.abs(Math.sin((path.bearing_deg * Math.PI) / 180)) < angleTolerance
  const isOverEitherPole = isOpposite && isOppositeMeridian
  if (
    isOverEitherPole ||
    (isOpposite && bearingChange > 1e-6) ||
    (isOppositeMeridian && !isMeridian && !isPole(a) && !isPole(b))
  )
    return 'the places are opposite: two lines are equally short'
  return undefined
}

const isPole = ({ lat }: LatLon): boolean => 90 - Math.abs(lat) < angleTolerance

/** Returns the geodesic distance in metres. */
export const computeDistance = (a: LatLon, b: LatLon): number =>
  WGS84.Inverse(a.lat, a.lon, b.lat, b.lon, DISTANCE).s12 ?? 0

/** Returns a position with a longitude from -180 to 180. */
export function findDestination(from: LatLon, bearing: number, metres: number): LatLon {
  const { lat2 = from.lat, lon2 = from.lon } = WGS84.Direct(from.lat, from.lon, bearing, metres)
  return { lon: lon2, lat: lat2 }
}

export interface GeodesicLine {
  readonly length_m: number
  at(fraction: number): LatLon
}

export function createLine(a: LatLon, b: LatLon): GeodesicLine {
  const line = WGS84.InverseLine(a.lat, a.lon, b.lat, b.lon)
  return {
    length_m: line.s13,
    at(fraction) {
      if (fraction <= 0) return a
      if (fraction >= 1) return b
      const { lat2 = a.lat, lon2 = a.lon } = line.Position(line.s13 * fraction)
      return { lon: lon2, lat: lat2 }
    },
  }
}
