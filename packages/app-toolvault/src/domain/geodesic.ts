/**
 * Distances, bearings and positions on the WGS84 ellipsoid along geodesics (C. F. F. Karney, Algorithms for geodesics,
 * J. Geodesy 87, 2013), as GeographicLib computes them: good to some nanometres. Degrees, metres, bearings from 0 to 360.
 */
import geographic from 'geographiclib-geodesic'

const { WGS84, DISTANCE } = geographic.Geodesic

/** A place, degrees. */
export interface Place {
  readonly lon: number
  readonly lat: number
}

/** How one place lies from another. */
export interface Way {
  readonly distance_m: number
  /** bearing at the start */
  readonly bearing_deg: number
  /** forward bearing on arrival */
  readonly final_bearing_deg: number
}

/** Metres in a nautical mile, by definition. */
export const nauticalMile = 1852

/** Metres per second in a knot. */
export const knot = nauticalMile / 3600

/** Mean radius of the earth, m (IUGG). */
export const meanRadius = 6_371_008.8

/** Within 0 to 360. */
export const compass = (degrees: number): number => {
  if (degrees >= 0 && degrees < 360) return degrees
  const turned = ((degrees % 360) + 360) % 360
  return turned === 360 ? 0 : turned
}

/** Within -180 to 180. */
export const signedAngle = (degrees: number): number => {
  const turned = compass(degrees)
  return turned > 180 ? turned - 360 : turned
}

/** From `a` to `b` on the shortest way. Of the same place the bearing is 180, as the library has it. */
export function way(a: Place, b: Place): Way {
  const { s12 = 0, azi1 = 0, azi2 = 0 } = WGS84.Inverse(a.lat, a.lon, b.lat, b.lon)
  return { distance_m: s12, bearing_deg: compass(azi1), final_bearing_deg: compass(azi2) }
}

/** Length of the shortest way, m. */
export const distance = (a: Place, b: Place): number =>
  WGS84.Inverse(a.lat, a.lon, b.lat, b.lon, DISTANCE).s12 ?? 0

/** Where one arrives after so many metres on this initial bearing; longitude from -180 to 180. */
export function destination(from: Place, bearing: number, metres: number): Place {
  const { lat2 = from.lat, lon2 = from.lon } = WGS84.Direct(from.lat, from.lon, bearing, metres)
  return { lon: lon2, lat: lat2 }
}

/** A way that is walked in fractions of its length: 0 is the start, 1 the end. */
export function walk(a: Place, b: Place): { readonly length_m: number; at(fraction: number): Place } {
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
