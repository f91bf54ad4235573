import type { Point } from '@causeway/picture'
import { type Bounds, findNearestLongitude, type LonLat } from '@causeway/plot'

export interface Frame {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Mercator, polar stereographic for one hemisphere beyond 80 degrees, or else plate carrée beyond 84 degrees. */
export interface Projection {
  readonly name: 'Mercator' | 'polar stereographic' | 'plate carrée'
  readonly frame: Frame
  /** The visible area: the requested bounds, extended to the proportions of the frame. */
  readonly bounds: Bounds
  point(place: LonLat): Point
  /** Scale near the middle, or `null` if it depends on the direction. */
  readonly scale: MapScale | null
}

interface MapScale {
  /** Pixels per nautical mile. */
  readonly pxPerMile: number
  /** Degrees, rounded on charts of more than two degrees. */
  readonly latitude: number
  /** Largest ratio between two scales within the frame. */
  readonly variation: number
}

const maxMercatorLatitude = 84

/** Latitude beyond which a chart of one hemisphere is polar. */
const minPolarLatitude = 80

export function chooseFrameHeight(bounds: Bounds, width: number): number {
  const [x0, y0, x1, y1] = createPlane(bounds).extent
  return Math.round(Math.min(width * 0.9, Math.max(width * 0.5, (width * (y1 - y0)) / (x1 - x0))))
}

export function createProjection(bounds: Bounds, frame: Frame): Projection {
  const plane = createPlane(bounds)
  const [x0, y0, x1, y1] = plane.extent
  const pxPerUnit = Math.min(frame.width / (x1 - x0), frame.height / (y1 - y0))
  const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2]
  const [halfX, halfY] = [frame.width / 2 / pxPerUnit, frame.height / 2 / pxPerUnit]
  const visibleBounds = plane.findBounds([cx - halfX, cy - halfY, cx + halfX, cy + halfY])
  const middleLat = plane.inverse([cx, cy])[1]
  const [, south, , north] = visibleBounds
  const scaleFactors = [south, middleLat, north].map(plane.scaleFactor ?? (() => Number.NaN))
  const latitude = north - south > 2 ? Math.round(middleLat) : middleLat
  return {
    name: plane.name,
    frame,
    bounds: visibleBounds,
    point: (place) => {
      const [x, y] = plane.project(place)
      return [
        frame.left + frame.width / 2 + (x - cx) * pxPerUnit,
        frame.top + frame.height / 2 - (y - cy) * pxPerUnit,
      ]
    },
    scale:
      plane.scaleFactor === undefined
        ? null
        : {
            pxPerMile: (plane.scaleFactor(latitude) / 60) * pxPerUnit,
            latitude,
            variation: Math.max(...scaleFactors) / Math.min(...scaleFactors),
          },
  }
}

type PlanePoint = readonly [x: number, y: number]
type Extent = readonly [x0: number, y0: number, x1: number, y1: number]

interface Plane {
  readonly name: Projection['name']
  readonly extent: Extent
  project(place: LonLat): PlanePoint
  inverse(point: PlanePoint): LonLat
  findBounds(extent: Extent): Bounds
  /** Plane units per degree of a great circle at a latitude, the same in all directions. */
  readonly scaleFactor?: (lat: number) => number
}

function createPlane(bounds: Bounds): Plane {
  const [, south, , north] = bounds
  if (north > minPolarLatitude && south >= 0) return createPolarPlane(bounds, 1)
  if (south < -minPolarLatitude && north <= 0) return createPolarPlane(bounds, -1)
  return createCylindricalPlane(bounds)
}

/** Spherical Mercator in degrees of the equator (Snyder, USGS PP 1395, eq. 7-1 to 7-4), or plate carrée. */
function createCylindricalPlane([west, south, east, north]: Bounds): Plane {
  const isMercator = south >= -maxMercatorLatitude && north <= maxMercatorLatitude
  const lonFactor = isMercator ? 1 : Math.max(0.05, Math.cos(toRadians((south + north) / 2)))
  const toY = (lat: number): number =>
    isMercator
      ? toDegrees(Math.log(Math.tan(Math.PI / 4 + toRadians(Math.max(-89, Math.min(89, lat))) / 2)))
      : lat
  const toLatitude = (value: number): number =>
    isMercator ? toDegrees(2 * Math.atan(Math.exp(toRadians(value))) - Math.PI / 2) : value
  return {
    name: isMercator ? 'Mercator' : 'plate carrée',
    extent: [west * lonFactor, toY(south), east * lonFactor, toY(north)],
    project: ([lon, lat]) => [lon * lonFactor, toY(lat)],
    inverse: ([x, value]) => [x / lonFactor, toLatitude(value)],
    findBounds: ([x0, y0, x1, y1]) => [
      x0 / lonFactor,
      Math.max(-90, toLatitude(y0)),
      x1 / lonFactor,
      Math.min(90, toLatitude(y1)),
    ],
    ...(isMercator ? { scaleFactor: (lat: number) => 1 / Math.cos(toRadians(lat)) } : {}),
  }
}

const samplesPerEdge = 48

/**
 * Polar stereographic projection of the sphere in degrees at the pole (Snyder, eq. 21-33 and 21-34). The middle
 * meridian points down from the North Pole and up from the South Pole, so that west is on the left.
 */
function createPolarPlane(bounds: Bounds, hemisphere: 1 | -1): Plane {
  const [west, south, east, north] = bounds
  const middleLon = (west + east) / 2
  const project = ([lon, lat]: LonLat): PlanePoint => {
    const radius = 2 * toDegrees(Math.tan(toRadians(90 - hemisphere * lat) / 2))
    const angle = toRadians(lon - middleLon)
    return [radius * Math.sin(angle), -hemisphere * radius * Math.cos(angle)]
  }
  const inverse = ([x, y]: PlanePoint): LonLat => [
    findNearestLongitude(middleLon + toDegrees(Math.atan2(x, -hemisphere * y)), middleLon),
    hemisphere * (90 - 2 * toDegrees(Math.atan(toRadians(Math.hypot(x, y)) / 2))),
  ]
  const edgePoints = listBoxEdges([west, south, east, north]).map(project)
  return {
    name: 'polar stereographic',
    extent: findExtent(edgePoints),
    project,
    inverse,
    findBounds(extent) {
      const [x0, y0, x1, y1] = extent
      const edges = listBoxEdges(extent).map(inverse)
      const [lons, lats] = [edges.map(([lon]) => lon), edges.map(([, lat]) => lat)]
      const [minLat, maxLat] = [Math.min(...lats), Math.max(...lats)]
      const containsPole = x0 < 0 && x1 > 0 && y0 < 0 && y1 > 0
      if (containsPole)
        return [middleLon - 180, hemisphere > 0 ? minLat : -90, middleLon + 180, hemisphere > 0 ? 90 : maxLat]
      // The parallel closest to the pole can touch an edge between two sampled points.
      return [Math.min(...lons), minLat - 0.01, Math.max(...lons), Math.min(90, maxLat + 0.01)]
    },
    scaleFactor: (lat) => 1 / Math.cos(toRadians(90 - hemisphere * lat) / 2) ** 2,
  }
}

function listBoxEdges([x0, y0, x1, y1]: Extent): PlanePoint[] {
  return Array.from({ length: samplesPerEdge + 1 }, (_, index) => index / samplesPerEdge).flatMap(
    (fraction): PlanePoint[] => {
      const [x, y] = [x0 + (x1 - x0) * fraction, y0 + (y1 - y0) * fraction]
      return [
        [x, y0],
        [x, y1],
        [x0, y],
        [x1, y],
      ]
    },
  )
}

function findExtent(points: readonly PlanePoint[]): Extent {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)]
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

/** Maximum length of an edge in a polar chart, in degrees of longitude. */
const maxEdgeDegrees = 1

/** Returns the outline in pixels. On a polar chart, edges along a parallel are arcs. */
export function traceArea(places: readonly LonLat[], { name, point }: Projection): readonly Point[] {
  if (name !== 'polar stereographic') return places.map(point)
  return places.flatMap(([lon, lat], index) => {
    const [nextLon, nextLat] = places[index + 1] ?? [lon, lat]
    const partCount = Math.max(1, Math.ceil(Math.abs(nextLon - lon) / maxEdgeDegrees))
    return Array.from({ length: partCount }, (_, part) => {
      const fraction = part / partCount
      return point([lon + (nextLon - lon) * fraction, lat + (nextLat - lat) * fraction])
    })
  })
}

const toRadians = (value: number): number => (value * Math.PI) / 180
const toDegrees = (value: number): number => (value * 180) / Math.PI
