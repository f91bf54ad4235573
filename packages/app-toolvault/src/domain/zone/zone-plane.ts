import { findNearestLongitude, type Position } from '@causeway/plot'
import type { LatLon } from '../geodesy/geodesic.ts'

export type PlanePoint = readonly [x: number, y: number]

/**
 * A plane in which edges and legs are straight. x and y are longitude and latitude in degrees, or degrees from the
 * pole for zones around a pole or beyond 80 degrees (azimuthal equidistant projection).
 */
export interface ZonePlane {
  readonly isPolar: boolean
  project(position: LatLon): PlanePoint
  unproject(point: PlanePoint): LatLon
  drawRing(ring: readonly Position[]): PlanePoint[]
}

/** In degrees. */
const minPolarLatitude = 80

/** In a polar plane, edges are divided into parts of at most this many degrees of longitude. */
const maxPartDegrees = 0.5

const radiansPerDegree = Math.PI / 180

export function chooseZonePlane(rings: readonly (readonly Position[])[]): ZonePlane {
  const lats = rings.flat().map(([, lat = 0]) => lat)
  const north = lats.reduce((max, lat) => Math.max(max, lat), -90)
  const south = lats.reduce((min, lat) => Math.min(min, lat), 90)
  const isPolar = Math.max(north, -south) > minPolarLatitude || rings.some(enclosesPole)
  const isSouthern = lats.reduce((sum, lat) => sum + lat, 0) < 0
  const referenceLon = rings[0]?.[0]?.[0] ?? 0
  return isPolar ? createPolarPlane(isSouthern ? -1 : 1) : createPlane(referenceLon)
}

const createPlane = (referenceLon: number): ZonePlane => ({
  isPolar: false,
  project: ({ lon, lat }) => [lon, lat],
  unproject: ([lon, lat]) => ({ lon, lat }),
  drawRing(ring) {
    const lons = unwrapRing(ring)
    const offset = findNearestLongitude(lons[0] ?? 0, referenceLon) - (lons[0] ?? 0)
    return ring.map(([, lat = 0], index) => [(lons[index] ?? 0) + offset, lat])
  },
})

function createPolarPlane(hemisphere: 1 | -1): ZonePlane {
  const project = ({ lon, lat }: LatLon): PlanePoint => {
    const radius = 90 - hemisphere * lat
    return [radius * Math.sin(lon * radiansPerDegree), radius * Math.cos(lon * radiansPerDegree)]
  }
  return {
    isPolar: true,
    project,
    unproject: ([x, y]) => ({
      lon: Math.atan2(x, y) / radiansPerDegree,
      lat: hemisphere * (90 - Math.hypot(x, y)),
    }),
    drawRing(ring) {
      const lons = unwrapRing(ring)
      return ring.flatMap(([, lat = 0], index) => {
        const [lon = 0, nextLon, nextLat] = [lons[index], lons[index + 1], ring[index + 1]?.[1]]
        if (nextLon === undefined || nextLat === undefined) return [project({ lon, lat })]
        const partCount = Math.max(1, Math.ceil(Math.abs(nextLon - lon) / maxPartDegrees))
        return Array.from({ length: partCount }, (_, part) => {
          const fraction = part / partCount
          return project({ lon: lon + (nextLon - lon) * fraction, lat: lat + (nextLat - lat) * fraction })
        })
      })
    },
  }
}

/** Returns longitudes that are each within 180 degrees of the previous one, except for an edge from -180 to 180. */
function unwrapRing(ring: readonly Position[]): number[] {
  const lons: number[] = []
  for (const [index, [lon = 0]] of ring.entries()) {
    const [lastLon, previousLon] = [lons.at(-1) ?? lon, ring[index - 1]?.[0] ?? lon]
    lons.push(
      Math.abs(lon - previousLon) === 360 ? lastLon + lon - previousLon : findNearestLongitude(lon, lastLon),
    )
  }
  return lons
}

function enclosesPole(ring: readonly Position[]): boolean {
  const lons = unwrapRing(ring)
  const [first = 0, last = 0] = [lons[0], lons.at(-1)]
  const end = findNearestLongitude(first, last)
  return Math.abs(Math.abs(end - first) - 360) < 1e-6
}
