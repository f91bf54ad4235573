/**
 * Rhumb lines (constant bearing) on the WGS84 ellipsoid. Distances along a meridian use the series of the rectifying
 * latitude to the sixth power of the third flattening (F. W. Bessel; coefficients of C. F. F. Karney, Transverse
 * Mercator, 2011, eq. A5), accurate to a micrometre.
 */
import { type GeodesicPath, type LatLon, normalizeBearing } from './geodesic.ts'

const equatorialRadius = 6_378_137
const flattening = 1 / 298.257223563
const eccentricity = Math.sqrt(flattening * (2 - flattening))
const thirdFlattening = flattening / (2 - flattening)
const radiansPerDegree = Math.PI / 180

/** Rectifying radius in metres. */
const rectifyingRadius =
  (equatorialRadius / (1 + thirdFlattening)) *
  (1 + thirdFlattening ** 2 / 4 + thirdFlattening ** 4 / 64 + thirdFlattening ** 6 / 256)

const rectifyingCoefficients = [
  (-3 / 2) * thirdFlattening + (9 / 16) * thirdFlattening ** 3 - (3 / 32) * thirdFlattening ** 5,
  (15 / 16) * thirdFlattening ** 2 - (15 / 32) * thirdFlattening ** 4 + (135 / 2048) * thirdFlattening ** 6,
  (-35 / 48) * thirdFlattening ** 3 + (105 / 256) * thirdFlattening ** 5,
  (315 / 512) * thirdFlattening ** 4 - (189 / 512) * thirdFlattening ** 6,
  (-693 / 1280) * thirdFlattening ** 5,
  (1001 / 2048) * thirdFlattening ** 6,
]

/** Returns the distance from the equator in metres. */
const computeMeridianDistance = (lat: number): number =>
  rectifyingRadius * rectifyingCoefficients.reduce((sum, c, k) => sum + c * Math.sin(2 * (k + 1) * lat), lat)

const toIsometric = (lat: number): number =>
  Math.asinh(Math.tan(lat)) - eccentricity * Math.atanh(eccentricity * Math.sin(lat))

export function solveRhumb(a: LatLon, b: LatLon): GeodesicPath {
  const [lat1, lat2] = [a.lat * radiansPerDegree, b.lat * radiansPerDegree]
  const lonDifference = (((((b.lon - a.lon) % 360) + 540) % 360) - 180) * radiansPerDegree
  const isometricDifference = toIsometric(lat2) - toIsometric(lat1)
  const meridianDistance = computeMeridianDistance(lat2) - computeMeridianDistance(lat1)
  // For nearly equal latitudes, the quotient loses precision. Its limit is the parallel's radius.
  const isAlongParallel = Math.abs(lat2 - lat1) < 1e-9
  const sine = Math.sin((lat1 + lat2) / 2)
  const parallelRadius =
    (equatorialRadius * Math.cos((lat1 + lat2) / 2)) / Math.sqrt(1 - eccentricity ** 2 * sine ** 2)
  const scale = isAlongParallel ? parallelRadius : meridianDistance / isometricDifference
  const bearing = normalizeBearing(
    Math.atan2(lonDifference, isAlongParallel ? (lat2 - lat1) / Math.cos(lat1) : isometricDifference) /
      radiansPerDegree,
  )
  return {
    distance_m: Math.hypot(
      isAlongParallel ? meridianDistance : scale * isometricDifference,
      scale * lonDifference,
    ),
    bearing_deg: bearing,
    final_bearing_deg: bearing,
  }
}
