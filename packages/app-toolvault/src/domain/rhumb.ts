/**
 * Rhumb lines, lines of constant bearing, on the WGS84 ellipsoid. The isometric latitude is in closed form, the distance
 * along a meridian by the series of the rectifying latitude to the sixth power of the third flattening (F. W. Bessel;
 * coefficients as in C. F. F. Karney, Transverse Mercator, 2011, eq. A5): below a micrometre off.
 */
import { compass, type Place, type Way } from './geodesic.ts'

const radius = 6_378_137
const flattening = 1 / 298.257223563
const eccentricity = Math.sqrt(flattening * (2 - flattening))
const n = flattening / (2 - flattening)
const rad = Math.PI / 180

/** Mean meridian radius, m. */
const meridianRadius = (radius / (1 + n)) * (1 + n ** 2 / 4 + n ** 4 / 64 + n ** 6 / 256)

const series = [
  (-3 / 2) * n + (9 / 16) * n ** 3 - (3 / 32) * n ** 5,
  (15 / 16) * n ** 2 - (15 / 32) * n ** 4 + (135 / 2048) * n ** 6,
  (-35 / 48) * n ** 3 + (105 / 256) * n ** 5,
  (315 / 512) * n ** 4 - (189 / 512) * n ** 6,
  (-693 / 1280) * n ** 5,
  (1001 / 2048) * n ** 6,
]

/** Distance from the equator along the meridian, m. */
const meridian = (lat: number): number =>
  meridianRadius * series.reduce((sum, c, k) => sum + c * Math.sin(2 * (k + 1) * lat), lat)

const isometric = (lat: number): number =>
  Math.asinh(Math.tan(lat)) - eccentricity * Math.atanh(eccentricity * Math.sin(lat))

/** From `a` to `b` on one bearing, the shorter way round. */
export function rhumbWay(a: Place, b: Place): Way {
  const [lat1, lat2] = [a.lat * rad, b.lat * rad]
  const east = (((((b.lon - a.lon) % 360) + 540) % 360) - 180) * rad
  const stretch = isometric(lat2) - isometric(lat1)
  const north = meridian(lat2) - meridian(lat1)
  // Near a parallel the quotient loses its digits; its limit there is the radius of the parallel.
  const isFlat = Math.abs(lat2 - lat1) < 1e-9
  const sine = Math.sin((lat1 + lat2) / 2)
  const parallel = (radius * Math.cos((lat1 + lat2) / 2)) / Math.sqrt(1 - eccentricity ** 2 * sine ** 2)
  const scale = isFlat ? parallel : north / stretch
  const bearing = compass(Math.atan2(east, isFlat ? (lat2 - lat1) / Math.cos(lat1) : stretch) / rad)
  return {
    distance_m: Math.hypot(isFlat ? north : scale * stretch, scale * east),
    bearing_deg: bearing,
    final_bearing_deg: bearing,
  }
}
