/**
 * Rhumb lines (constant bearing) on the WGS84 ellipsoid. Distances along a meridian use the series of the rectifying
 * latitude to the sixth power of the third flattening (F. W. Bessel; coefficients of C. F. F. Karney, Transverse
 * Mercator, 2011, eq. A5), accurate to a micrometre.
 */
import { normalizeBearing, type PathFigures, type Place } from './geodesic.ts'

const radius = 6_378_137
const flattening = 1 / 298.257223563
const eccentricity = Math.sqrt(flattening * (2 - flattening))
const n = flattening / (2 - flattening)
const rad = Math.PI / 180

/** Rectifying radius in metres. */
const meridianRadius = (radius / (1 + n)) * (1 + n ** 2 / 4 + n ** 4 / 64 + n ** 6 / 256)

const series = [
  (-3 / 2) * n + (9 / 16) * n ** 3 - (3 / 32) * n ** 5,
  (15 / 16) * n ** 2 - (15 / 32) * n ** 4 + (135 / 2048) * n ** 6,
  (-35 / 48) * n ** 3 + (105 / 256) * n ** 5,
  (315 / 512) * n ** 4 - (189 / 512) * n ** 6,
  (-693 / 1280) * n ** 5,
  (1001 / 2048) * n ** 6,
]

/** Returns the distance from the equator in metres. */
const measureMeridian = (lat: number): number =>
  meridianRadius * series.reduce((sum, c, k) => sum + c * Math.sin(2 * (k + 1) * lat), lat)

const toIsometric = (lat: number): number =>
  Math.asinh(Math.tan(lat)) - eccentricity * Math.atanh(eccentricity * Math.sin(lat))

export function solveRhumb(a: Place, b: Place): PathFigures {
  const [lat1, lat2] = [a.lat * rad, b.lat * rad]
  const east = (((((b.lon - a.lon) % 360) + 540) % 360) - 180) * rad
  const stretch = toIsometric(lat2) - toIsometric(lat1)
  const north = measureMeridian(lat2) - measureMeridian(lat1)
  // For nearly equal latitudes, the quotient loses precision. Its limit is the parallel's radius.
  const isFlat = Math.abs(lat2 - lat1) < 1e-9
  const sine = Math.sin((lat1 + lat2) / 2)
  const parallel = (radius * Math.cos((lat1 + lat2) / 2)) / Math.sqrt(1 - eccentricity ** 2 * sine ** 2)
  const scale = isFlat ? parallel : north / stretch
  const bearing = normalizeBearing(Math.atan2(east, isFlat ? (lat2 - lat1) / Math.cos(lat1) : stretch) / rad)
  return {
    distance_m: Math.hypot(isFlat ? north : scale * stretch, scale * east),
    bearing_deg: bearing,
    final_bearing_deg: bearing,
  }
}
