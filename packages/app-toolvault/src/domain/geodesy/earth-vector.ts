/**
 * Positions as vectors from the centre of the WGS84 ellipsoid, in metres. The chord between two positions is never
 * longer than the geodesic.
 */
import { earthMeanRadius, type LatLon } from './geodesic.ts'

const equatorialRadius = 6_378_137
const flattening = 1 / 298.257223563
const eccentricitySquared = flattening * (2 - flattening)
const radiansPerDegree = Math.PI / 180

/** Returns x, y and z of each position, shape [positions, 3], row-major. */
export function toEarthVectors(positions: readonly LatLon[]): Float64Array {
  const vectors = new Float64Array(positions.length * 3)
  for (const [index, { lon, lat }] of positions.entries()) {
    const sine = Math.sin(lat * radiansPerDegree)
    const normalRadius = equatorialRadius / Math.sqrt(1 - eccentricitySquared * sine * sine)
    const parallelRadius = normalRadius * Math.cos(lat * radiansPerDegree)
    vectors[index * 3] = parallelRadius * Math.cos(lon * radiansPerDegree)
    vectors[index * 3 + 1] = parallelRadius * Math.sin(lon * radiansPerDegree)
    vectors[index * 3 + 2] = normalRadius * (1 - eccentricitySquared) * sine
  }
  return vectors
}

export const measureChord = (xyz: Float64Array, i: number, j: number): number =>
  Math.hypot(
    getCoordinate(xyz, j * 3) - getCoordinate(xyz, i * 3),
    getCoordinate(xyz, j * 3 + 1) - getCoordinate(xyz, i * 3 + 1),
    getCoordinate(xyz, j * 3 + 2) - getCoordinate(xyz, i * 3 + 2),
  )

/** Returns the depth in metres of a chord's middle below the surface. */
export const measureSagitta = (length: number): number => (length * length) / (8 * earthMeanRadius)

export const getCoordinate = (xyz: Float64Array, index: number): number => xyz[index] ?? 0
