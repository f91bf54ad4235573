/** Edges and legs are straight in longitude and latitude (RFC 7946, section 3.1.1), except near the poles. */
import { type Feature, getFeatureId, getLabel, type Position } from '@causeway/plot'
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import Flatbush from 'flatbush'
import { createFeatureError } from '../feature/read-features.ts'
import type { Place } from '../geodesy/geodesic.ts'
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
  readonly tree: Flatbush
}

export interface Transit {
  readonly enter_ms: number
  readonly exit_ms: number
  readonly enter: Place
  readonly exit: Place
  readonly begins_inside: boolean
  readonly ends_inside: boolean
  readonly fixes_inside: number
}

/** Throws `FEATURE_UNUSABLE` if the feature is not a polygon. */
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
  const tree = new Flatbush(edges.length / 4)
  for (let row = 0; row < edges.length; row += 4) {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = edges.subarray(row, row + 4)
    tree.add(Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1))
  }
  tree.finish()
  return {
    id: getFeatureId(feature),
    name: getLabel(feature),
    plane,
    polygons,
    edges,
    tree,
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
  const stays: Transit[] = []
  const [start, end] = getTimeSpan(track)
  for (const turn of listTurns(track, zone)) {
    const pieces: InsidePiece[] = []
    for (let index = 1; index < track.fixes.length; index++) {
      if (!track.breaks.has(index)) pieces.push(...findInsidePieces(track, zone, { index, turn }))
      yield index
    }
    stays.push(...mergePieces(pieces).map((piece) => toTransit(track, piece, { start, end, turn })))
  }
  return stays.sort((a, b) => a.enter_ms - b.enter_ms)
}

/** Returns the multiples of 360 degrees that shift the track to the zone's longitudes. */
function listTurns({ places }: TimedTrack, { tree, plane }: Zone): number[] {
  if (plane.isPolar) return [0]
  let [west, east] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { lon } of places) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
  }
  const first = Math.ceil((tree.minX - east) / 360)
  const last = Math.floor((tree.maxX - west) / 360)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * 360)
}

interface InsidePiece {
  readonly from_ms: number
  readonly to_ms: number
  readonly from: Place
  readonly to: Place
}

function findInsidePieces(
  { fixes }: TimedTrack,
  zone: Zone,
  { index, turn }: { readonly index: number; readonly turn: number },
): InsidePiece[] {
  const [a, b] = [fixes[index - 1], fixes[index]]
  if (a === undefined || b === undefined) return []
  const { tree, plane } = zone
  const [x0, y0] = plane.project({ lon: a.lon + turn, lat: a.lat })
  const [x1, y1] = plane.project({ lon: b.lon + turn, lat: b.lat })
  if (Math.max(x0, x1) < tree.minX || Math.min(x0, x1) > tree.maxX) return []
  if (Math.max(y0, y1) < tree.minY || Math.min(y0, y1) > tree.maxY) return []
  const getPointAt = (fraction: number): PlanePoint => [x0 + (x1 - x0) * fraction, y0 + (y1 - y0) * fraction]
  const shares = [0, ...findCrossings(zone, [x0, y0, x1, y1]), 1]
  return shares.slice(1).flatMap((to, before) => {
    const from = shares[before] ?? 0
    if (to - from < 1e-12 || !isInside(getPointAt((from + to) / 2), zone)) return []
    const at = (fraction: number): number => a.time + (b.time - a.time) * fraction
    return [
      {
        from_ms: at(from),
        to_ms: at(to),
        from: plane.unproject(getPointAt(from)),
        to: plane.unproject(getPointAt(to)),
      },
    ]
  })
}

/** Returns the crossings as fractions of the leg, in ascending order. */
function findCrossings(
  { tree, edges }: Zone,
  [x0, y0, x1, y1]: readonly [number, number, number, number],
): number[] {
  const box = [Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1)] as const
  const [dx, dy] = [x1 - x0, y1 - y0]
  return tree
    .search(...box)
    .flatMap((edge) => {
      const [ex0 = 0, ey0 = 0, ex1 = 0, ey1 = 0] = edges.subarray(edge * 4, edge * 4 + 4)
      const [ex, ey] = [ex1 - ex0, ey1 - ey0]
      const cross = dx * ey - dy * ex
      if (cross === 0) return []
      const fraction = ((ex0 - x0) * ey - (ey0 - y0) * ex) / cross
      const along = ((ex0 - x0) * dy - (ey0 - y0) * dx) / cross
      return fraction > 0 && fraction < 1 && along >= 0 && along <= 1 ? [fraction] : []
    })
    .sort((a, b) => a - b)
}

const isInside = ([x, y]: PlanePoint, { polygons }: Zone): boolean =>
  polygons.some((rings) =>
    booleanPointInPolygon([x, y], { type: 'Polygon', coordinates: rings as number[][][] }),
  )

function mergePieces(pieces: readonly InsidePiece[]): InsidePiece[] {
  const out: InsidePiece[] = []
  for (const piece of pieces) {
    const last = out.at(-1)
    if (last !== undefined && piece.from_ms <= last.to_ms)
      out[out.length - 1] = { ...last, to_ms: piece.to_ms, to: piece.to }
    else out.push(piece)
  }
  return out
}

function toTransit(
  { times }: TimedTrack,
  { from_ms, to_ms, from, to }: InsidePiece,
  { start, end, turn }: { readonly start: number; readonly end: number; readonly turn: number },
): Transit {
  return {
    enter_ms: from_ms,
    exit_ms: to_ms,
    enter: { ...from, lon: from.lon - turn },
    exit: { ...to, lon: to.lon - turn },
    begins_inside: from_ms <= start,
    ends_inside: to_ms >= end,
    fixes_inside: times.filter((time) => time >= from_ms && time <= to_ms).length,
  }
}
