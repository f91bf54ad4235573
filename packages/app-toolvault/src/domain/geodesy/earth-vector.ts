/**
 * Positions as vectors from the centre of the WGS84 ellipsoid, in metres. The chord between two positions is never
 * longer than the geodesic.
 */
import { meanRadius, type Place } from './geodesic.ts'

const radius = 6_378_137
const flattening = 1 / 298.257223563
const squared = flattening * (2 - flattening)
const rad = Math.PI / 180

/** Returns x, y and z of each position, shape [places, 3], row-major. */
export function toEarthVectors(places: readonly Place[]): Float64Array {
  const out = new Float64Array(places.length * 3)
  for (const [index, { lon, lat }] of places.entries()) {
    const sine = Math.sin(lat * rad)
    const across = radius / Math.sqrt(1 - squared * sine * sine)
    const flat = across * Math.cos(lat * rad)
    out[index * 3] = flat * Math.cos(lon * rad)
    out[index * 3 + 1] = flat * Math.sin(lon * rad)
    out[index * 3 + 2] = across * (1 - squared) * sine
  }
  return out
}

export const measureChord = (xyz: Float64Array, i: number, j: number): number =>
  Math.hypot(
    getCoordinate(xyz, j * 3) - getCoordinate(xyz, i * 3),
    getCoordinate(xyz, j * 3 + 1) - getCoordinate(xyz, i * 3 + 1),
    getCoordinate(xyz, j * 3 + 2) - getCoordinate(xyz, i * 3 + 2),
  )

/** Returns the depth in metres of a chord's middle below the surface. */
export const measureSagitta = (length: number): number => (length * length) / (8 * meanRadius)

export const getCoordinate = (xyz: Float64Array, index: number): number => xyz[index] ?? 0
