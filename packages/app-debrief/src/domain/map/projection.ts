/** From degrees to pixels: Mercator as on charts, and plain degrees near the poles, where Mercator has no place. */
import type { Point } from '@causeway/picture'
import type { Bounds } from '../bounds.ts'
import type { LonLat } from '../feature.ts'

/** Where the map stands on the picture, pixels. */
export interface Frame {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** A projection of one map. */
export interface Projection {
  readonly name: 'Mercator' | 'plate carrée'
  readonly frame: Frame
  /** what the frame shows: the wanted box and what stands around it, since the frame has its own proportions */
  readonly bounds: Bounds
  point(place: LonLat): Point
  /** pixels of a nautical mile in the middle of the map */
  readonly pxPerMile: number
}

const mercatorLimit = 84

/** Height of a frame of this width that suits a box: neither a strip nor a tower. */
export function frameHeight(bounds: Bounds, width: number): number {
  const { x, y } = plane(bounds)
  const wanted = (width * (y(bounds[3]) - y(bounds[1]))) / (x(bounds[2]) - x(bounds[0]))
  return Math.round(Math.min(width * 0.9, Math.max(width * 0.5, wanted)))
}

/** Fits a box into a frame, undistorted and centred. */
export function projection(bounds: Bounds, frame: Frame): Projection {
  const { name, x, y, inverseY } = plane(bounds)
  const [west, south, east, north] = bounds
  const scale = Math.min(frame.width / (x(east) - x(west)), frame.height / (y(north) - y(south)))
  const [cx, cy] = [(x(west) + x(east)) / 2, (y(south) + y(north)) / 2]
  const [halfX, halfY] = [frame.width / 2 / scale, frame.height / 2 / scale]
  const stretch = x(1) - x(0)
  const shown: Bounds = [
    (cx - halfX) / stretch,
    Math.max(-90, inverseY(cy - halfY)),
    (cx + halfX) / stretch,
    Math.min(90, inverseY(cy + halfY)),
  ]
  const middle = (south + north) / 2
  return {
    name,
    frame,
    bounds: shown,
    point: ([lon, lat]) => [
      frame.left + frame.width / 2 + (x(lon) - cx) * scale,
      frame.top + frame.height / 2 - (y(lat) - cy) * scale,
    ],
    // a minute of latitude
    pxPerMile: (y(Math.min(90, middle + 1 / 120)) - y(Math.max(-90, middle - 1 / 120))) * scale || 1,
  }
}

interface Plane {
  readonly name: Projection['name']
  readonly x: (lon: number) => number
  readonly y: (lat: number) => number
  readonly inverseY: (y: number) => number
}

/** Spherical Mercator in degrees of the equator (Snyder, Map Projections, USGS PP 1395, eq. 7-1 to 7-4). */
function plane([, south, , north]: Bounds): Plane {
  if (south >= -mercatorLimit && north <= mercatorLimit)
    return {
      name: 'Mercator',
      x: (lon) => lon,
      y: (lat) => degrees(Math.log(Math.tan(Math.PI / 4 + radians(Math.max(-89, Math.min(89, lat))) / 2))),
      inverseY: (y) => degrees(2 * Math.atan(Math.exp(radians(y))) - Math.PI / 2),
    }
  const shrink = Math.max(0.05, Math.cos(radians((south + north) / 2)))
  return { name: 'plate carrée', x: (lon) => lon * shrink, y: (lat) => lat, inverseY: (y) => y }
}

const radians = (value: number): number => (value * Math.PI) / 180
const degrees = (value: number): number => (value * 180) / Math.PI
