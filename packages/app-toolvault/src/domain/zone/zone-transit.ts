/** Edges and legs are straight in longitude and latitude (RFC 7946, section 3.1.1), except near the poles. */
import { type Feature, getFeatureId, getLabel, type Position } from '@causeway/plot'
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import Flatbush from 'flatbush'
import { createFeatureError } from '../feature/read-features.ts'
import type { LatLon } from '../geodesy/geodesic.ts'
import { getTimeSpan } from '../track/motion.ts'
import type { TimedTrack } from '../track/track.ts'
import { chooseZonePlane, type PlanePoint, type ZonePlane } from './zone-plane.ts'

export interface Zone {
  readonly id: string | null
  readonly name: string
  readonly plane: ZonePlane
  readonly polygons: readonly (readonly (readonly Position[])[])[]
  /** Plane coordinates of start and end, shape [edges, 4], row-major. */
  readonly edges: Float64Array
  readonly edgeIndex: Flatbush
}

export interface Transit {
  readonly enter_ms: number
  readonly exit_ms: number
  readonly enter: LatLon
  readonly exit: LatLon
  readonly begins_inside: boolean
  readonly ends_inside: boolean
  readonly fixes_inside: number
}

/** Throws `FEATURE_UNUSABLE` if the feature is not a polygon or has no edges. */
export function readZone(feature: Feature): Zone {
  const { geometry } = feature
  if (geometry?.type !== 'Polygon' && geometry?.type !== 'MultiPolygon')
    throw createFeatureError(feature, `is not an area but a ${geometry?.type ?? 'feature without geometry'}`)
  const coordinates = (
    geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  ) as Position[][][]
  const plane = chooseZonePlane(coordinates.flat())
  const polygons = coordinates.map((rings) => rings.map((ring) => plane.drawRing(closeRing(ring))))
  const edges = listEdges(polygons.flat())
  if (edges.length === 0) throw createFeatureError(feature, 'has no edges')
  const edgeIndex = new Flatbush(edges.length / 4)
  for (let row = 0; row < edges.length; row += 4) {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = edges.subarray(row, row + 4)
    edgeIndex.add(Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1))
  }
  edgeIndex.finish()
  return {
    id: getFeatureId(feature),
    name: getLabel(feature),
    plane,
    polygons,
    edges,
    edgeIndex,
  }
}

const closeRing = (ring: readonly Position[]): Position[] => {
  const [first, last] = [ring[0], ring.at(-1)]
  const isClosed = first !== undefined && first[0] === last?.[0] && first[1] === last?.[1]
  return isClosed || first === undefined ? [...ring] : [...ring, first]
}

function listEdges(rings: readonly (readonly Position[])[]): Float64Array {
  return Float64Array.from(
    rings.flatMap((ring) =>
      ring.slice(1).flatMap(([lon = 0, lat = 0], index) => {
        const [fromLon = 0, fromLat = 0] = ring[index] ?? []
        return [fromLon, fromLat, lon, lat]
      }),
    ),
  )
}

export function* findTransits(track: TimedTrack, zone: Zone): Generator<number, Transit[]> {
  const transits: Transit[] = []
  const [start, end] = getTimeSpan(track)
  for (const lonOffset of listLonOffsets(track, zone)) {
    const pieces: InsidePiece[] = []
    for (let index = 1; index < track.fixes.length; index++) {
      if (!track.breaks.has(index)) pieces.push(...findInsidePieces(track, zone, { index, lonOffset }))
      yield index
    }
    transits.push(...mergePieces(pieces).map((piece) => toTransit(track, piece, { start, end, lonOffset })))
  }
  return transits.sort((a, b) => a.enter_ms - b.enter_ms)
}

/** Returns the multiples of 360 degrees that shift the track to the zone's longitudes. */
function listLonOffsets({ positions }: TimedTrack, { edgeIndex, plane }: Zone): number[] {
  if (plane.isPolar) return [0]
  let [west, east] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { lon } of positions) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
  }
  const first = Math.ceil((edgeIndex.minX - east) / 360)
  const last = Math.floor((edgeIndex.maxX - west) / 360)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * 360)
}

interface InsidePiece {
  readonly from_ms: number
  readonly to_ms: number
  readonly from: LatLon
  readonly to: LatLon
}

function findInsidePieces(
  { fixes }: TimedTrack,
  zone: Zone,
  { index, lonOffset }: { readonly index: number; readonly lonOffset: number },
): InsidePiece[] {
  const [a, b] = [fixes[index - 1], fixes[index]]
  if (a === undefined || b === undefined) return []
  const { edgeIndex, plane } = zone
  const [x0, y0] = plane.project({ lon: a.lon + lonOffset, lat: a.lat })
  const [x1, y1] = plane.project({ lon: b.lon + lonOffset, lat: b.lat })
  if (Math.max(x0, x1) < edgeIndex.minX || Math.min(x0, x1) > edgeIndex.maxX) return []
  if (Math.max(y0, y1) < edgeIndex.minY || Math.min(y0, y1) > edgeIndex.maxY) return []
  const getPointAt = (fraction: number): PlanePoint => [x0 + (x1 - x0) * fraction, y0 + (y1 - y0) * fraction]
  const fractions = [0, ...findCrossings(zone, [x0, y0, x1, y1]), 1]
  return fractions.slice(1).flatMap((to, before) => {
    const from = fractions[before] ?? 0
    if (to - from < 1e-12 || !isInside(getPointAt((from + to) / 2), zone)) return []
    const getTimeAt = (fraction: number): number => a.time + (b.time - a.time) * fraction
    return [
      {
        from_ms: getTimeAt(from),
        to_ms: getTimeAt(to),
        from: plane.unproject(getPointAt(from)),
        to: plane.unproject(getPointAt(to)),
      },
    ]
  })
}

/** Returns the crossings as fractions of the leg, in ascending order. */
function findCrossings(
  { edgeIndex, edges }: Zone,
  [x0, y0, x1, y1]: readonly [number, number, number, number],
): number[] {
  const box = [Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1)] as const
  const [dx, dy] = [x1 - x0, y1 - y0]
  return edgeIndex
    .search(...box)
    .flatMap((edge) => {
      const [ex0 = 0, ey0 = 0, ex1 = 0, ey1 = 0] = edges.subarray(edge * 4, edge * 4 + 4)
      const [ex, ey] = [ex1 - ex0, ey1 - ey0]
      const crossProduct = dx * ey - dy * ex
      if (crossProduct === 0) return []
      const fraction = ((ex0 - x0) * ey - (ey0 - y0) * ex) / crossProduct
      const edgeFraction = ((ex0 - x0) * dy - (ey0 - y0) * dx) / crossProduct
      return fraction > 0 && fraction < 1 && edgeFraction >= 0 && edgeFraction <= 1 ? [fraction] : []
    })
    .sort((a, b) => a - b)
}

const isInside = ([x, y]: PlanePoint, { polygons }: Zone): boolean =>
  polygons.some((rings) =>
    booleanPointInPolygon([x, y], { type: 'Polygon', coordinates: rings as number[][][] }),
  )

function mergePieces(pieces: readonly InsidePiece[]): InsidePiece[] {
  const mergedPieces: InsidePiece[] = []
  for (const piece of pieces) {
    const last = mergedPieces.at(-1)
    if (last !== undefined && piece.from_ms <= last.to_ms)
      mergedPieces[mergedPieces.length - 1] = { ...last, to_ms: piece.to_ms, to: piece.to }
    else mergedPieces.push(piece)
  }
  return mergedPieces
}

function toTransit(
  { times }: TimedTrack,
  { from_ms, to_ms, from, to }: InsidePiece,
  { start, end, lonOffset }: { readonly start: number; readonly end: number; readonly lonOffset: number },
): Transit {
  return {
    enter_ms: from_ms,
    exit_ms: to_ms,
    enter: { ...from, lon: from.lon - lonOffset },
    exit: { ...to, lon: to.lon - lonOffset },
    begins_inside: from_ms <= start,
    ends_inside: to_ms >= end,
    fixes_inside: times.filter((time) => time >= from_ms && time <= to_ms).length,
  }
}
