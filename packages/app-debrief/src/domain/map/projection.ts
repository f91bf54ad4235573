import type { Point } from '@causeway/picture'
import { type Bounds, findNearestLongitude, type LonLat } from '@causeway/plot'

export interface Frame {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Mercator, polar stereographic beyond 80 degrees, or plate carrée for a chart that would need both. */
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

const mercatorLimit = 84

/** Latitude beyond which a chart of one hemisphere is polar. */
const polarLimit = 80

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
  const shown = plane.findBounds([cx - halfX, cy - halfY, cx + halfX, cy + halfY])
  const middle = plane.inverse([cx, cy])[1]
  const [, south, , north] = shown
  const stretches = [south, middle, north].map(plane.stretch ?? (() => Number.NaN))
  const latitude = north - south > 2 ? Math.round(middle) : middle
  return {
    name: plane.name,
    frame,
    bounds: shown,
    point: (place) => {
      const [x, y] = plane.project(place)
      return [
        frame.left + frame.width / 2 + (x - cx) * pxPerUnit,
        frame.top + frame.height / 2 - (y - cy) * pxPerUnit,
      ]
    },
    scale:
      plane.stretch === undefined
        ? null
        : {
            pxPerMile: (plane.stretch(latitude) / 60) * pxPerUnit,
            latitude,
            variation: Math.max(...stretches) / Math.min(...stretches),
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
  readonly stretch?: (lat: number) => number
}

function createPlane(bounds: Bounds): Plane {
  const [, south, , north] = bounds
  if (north > polarLimit && south >= 0) return createPolarPlane(bounds, 1)
  if (south < -polarLimit && north <= 0) return createPolarPlane(bounds, -1)
  return createCylinder(bounds)
}

/** Spherical Mercator in degrees of the equator (Snyder, Map Projections, USGS PP 1395, eq. 7-1 to 7-4). */
function createCylinder([west, south, east, north]: Bounds): Plane {
  const isMercator = south >= -mercatorLimit && north <= mercatorLimit
  const shrink = isMercator ? 1 : Math.max(0.05, Math.cos(toRadians((south + north) / 2)))
  const y = (lat: number): number =>
    isMercator
      ? toDegrees(Math.log(Math.tan(Math.PI / 4 + toRadians(Math.max(-89, Math.min(89, lat))) / 2)))
      : lat
  const inverseY = (value: number): number =>
    isMercator ? toDegrees(2 * Math.atan(Math.exp(toRadians(value))) - Math.PI / 2) : value
  return {
    name: isMercator ? 'Mercator' : 'plate carrée',
    extent: [west * shrink, y(south), east * shrink, y(north)],
    project: ([lon, lat]) => [lon * shrink, y(lat)],
    inverse: ([x, value]) => [x / shrink, inverseY(value)],
    findBounds: ([x0, y0, x1, y1]) => [
      x0 / shrink,
      Math.max(-90, inverseY(y0)),
      x1 / shrink,
      Math.min(90, inverseY(y1)),
    ],
    ...(isMercator ? { stretch: (lat: number) => 1 / Math.cos(toRadians(lat)) } : {}),
  }
}

const samples = 48

/**
 * Polar stereographic projection of the sphere in degrees at the pole (Snyder, eq. 21-33 and 21-34). The
 * middle of the bounds points down in the north and up in the south, so that west is on the left.
 */
function createPolarPlane(bounds: Bounds, side: 1 | -1): Plane {
  const [west, south, east, north] = bounds
  const middle = (west + east) / 2
  const project = ([lon, lat]: LonLat): PlanePoint => {
    const radius = 2 * toDegrees(Math.tan(toRadians(90 - side * lat) / 2))
    const angle = toRadians(lon - middle)
    return [radius * Math.sin(angle), -side * radius * Math.cos(angle)]
  }
  const inverse = ([x, y]: PlanePoint): LonLat => [
    findNearestLongitude(middle + toDegrees(Math.atan2(x, -side * y)), middle),
    side * (90 - 2 * toDegrees(Math.atan(toRadians(Math.hypot(x, y)) / 2))),
  ]
  const corners = listBoxEdges([west, south, east, north]).map(project)
  return {
    name: 'polar stereographic',
    extent: findExtent(corners),
    project,
    inverse,
    findBounds(extent) {
      const [x0, y0, x1, y1] = extent
      const edges = listBoxEdges(extent).map(inverse)
      const [lons, lats] = [edges.map(([lon]) => lon), edges.map(([, lat]) => lat)]
      const [low, high] = [Math.min(...lats), Math.max(...lats)]
      const hasPole = x0 < 0 && x1 > 0 && y0 < 0 && y1 > 0
      if (hasPole) return [middle - 180, side > 0 ? low : -90, middle + 180, side > 0 ? 90 : high]
      // The parallel closest to the pole can touch an edge between two sampled points.
      return [Math.min(...lons), low - 0.01, Math.max(...lons), Math.min(90, high + 0.01)]
    },
    stretch: (lat) => 1 / Math.cos(toRadians(90 - side * lat) / 2) ** 2,
  }
}

function listBoxEdges([x0, y0, x1, y1]: Extent): PlanePoint[] {
  return Array.from({ length: samples + 1 }, (_, index) => index / samples).flatMap((share): PlanePoint[] => {
    const [x, y] = [x0 + (x1 - x0) * share, y0 + (y1 - y0) * share]
    return [
      [x, y0],
      [x, y1],
      [x0, y],
      [x1, y],
    ]
  })
}

function findExtent(points: readonly PlanePoint[]): Extent {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)]
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

/** Maximum length of an edge in a polar chart, in degrees of longitude. */
const maxEdge = 1

/** Returns the outline in pixels. On a polar chart, edges along a parallel are arcs. */
export function traceArea(places: readonly LonLat[], { name, point }: Projection): readonly Point[] {
  if (name !== 'polar stereographic') return places.map(point)
  return places.flatMap(([lon, lat], index) => {
    const [nextLon, nextLat] = places[index + 1] ?? [lon, lat]
    const parts = Math.max(1, Math.ceil(Math.abs(nextLon - lon) / maxEdge))
    return Array.from({ length: parts }, (_, part) => {
      const share = part / parts
      return point([lon + (nextLon - lon) * share, lat + (nextLat - lat) * share])
    })
  })
}

const toRadians = (value: number): number => (value * Math.PI) / 180
const toDegrees = (value: number): number => (value * 180) / Math.PI
