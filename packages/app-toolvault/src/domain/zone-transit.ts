/**
 * When a track was in a zone. Edges of zones and legs of tracks are straight in longitude and latitude, as GeoJSON has
 * them (RFC 7946, 3.1.1); the time on a leg is even. A passage between two fixes is found as well.
 */
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import Flatbush from 'flatbush'
import { type Feature, idOf, nameOf, type Position } from './feature.ts'
import type { Place } from './geodesic.ts'
import { lonNear, unwrapped } from './longitude.ts'
import { timeSpan } from './motion.ts'
import { type TimedTrack, unusable } from './track.ts'

/** A zone, ready to be asked. */
export interface Zone {
  readonly id: string | null
  readonly name: string
  /** middle of its longitudes: a track is turned next to it */
  readonly meridian: number
  readonly polygons: readonly (readonly (readonly Position[])[])[]
  /** shape [edges, 4]: lon, lat of the start and of the end, row-major */
  readonly edges: Float64Array
  readonly tree: Flatbush
}

/** A stay in a zone. */
export interface Transit {
  readonly enter_ms: number
  readonly exit_ms: number
  readonly enter: Place
  readonly exit: Place
  /** the track begins inside: the zone was entered before */
  readonly begins_inside: boolean
  /** the track ends inside */
  readonly ends_inside: boolean
  readonly fixes_inside: number
}

/** Reads a polygon, holes included; throws `FEATURE_UNUSABLE` for anything else. */
export function readZone(feature: Feature): Zone {
  const { geometry } = feature
  if (geometry?.type !== 'Polygon' && geometry?.type !== 'MultiPolygon')
    throw unusable(feature, `is not an area but a ${geometry?.type ?? 'feature without geometry'}`)
  const given = (
    geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  ) as Position[][][]
  const reference = given[0]?.[0]?.[0]?.[0] ?? 0
  const polygons = given.map((rings) => rings.map((ring) => closed(turned(ring, reference))))
  const edges = edgesOf(polygons.flat())
  if (edges.length === 0) throw unusable(feature, 'has no edges')
  const tree = new Flatbush(edges.length / 4)
  for (let row = 0; row < edges.length; row += 4) {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = edges.subarray(row, row + 4)
    tree.add(Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1))
  }
  tree.finish()
  return {
    id: idOf(feature),
    name: nameOf(feature),
    meridian: (tree.minX + tree.maxX) / 2,
    polygons,
    edges,
    tree,
  }
}

/** Positions without jumps of longitude, next to a meridian. */
function turned(ring: readonly Position[], meridian: number): Position[] {
  const lons = unwrapped(ring.map(([lon = 0]) => lon))
  const first = lons[0] ?? 0
  const shift = lonNear(first, meridian) - first
  return ring.map(([, lat = 0], index) => [(lons[index] ?? 0) + shift, lat])
}

const closed = (ring: readonly Position[]): Position[] => {
  const [first, last] = [ring[0], ring.at(-1)]
  const isClosed = first !== undefined && first[0] === last?.[0] && first[1] === last?.[1]
  return isClosed || first === undefined ? [...ring] : [...ring, first]
}

function edgesOf(rings: readonly (readonly Position[])[]): Float64Array {
  return Float64Array.from(
    rings.flatMap((ring) =>
      ring.slice(1).flatMap(([lon = 0, lat = 0], index) => {
        const [fromLon = 0, fromLat = 0] = ring[index] ?? []
        return [fromLon, fromLat, lon, lat]
      }),
    ),
  )
}

/** The stays of a track in a zone, in order; yields the number of legs that are done with. */
export function* transits(track: TimedTrack, zone: Zone): Generator<number, Transit[]> {
  const stays: Transit[] = []
  const [start, end] = timeSpan(track)
  for (const turn of turnsOf(track, zone)) {
    const pieces: Piece[] = []
    for (let index = 1; index < track.fixes.length; index++) {
      if (!track.breaks.has(index)) pieces.push(...insidePieces(track, zone, { index, turn }))
      yield index
    }
    stays.push(...merged(pieces).map((piece) => stay(track, piece, { start, end, turn })))
  }
  return stays.sort((a, b) => a.enter_ms - b.enter_ms)
}

/** Whole turns by which the track must be moved to come into the longitudes of the zone. */
function turnsOf({ places }: TimedTrack, { tree }: Zone): number[] {
  let [west, east] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { lon } of places) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
  }
  const first = Math.ceil((tree.minX - east) / 360)
  const last = Math.floor((tree.maxX - west) / 360)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * 360)
}

/** Part of a leg that lies inside. */
interface Piece {
  readonly from_ms: number
  readonly to_ms: number
  readonly from: Place
  readonly to: Place
}

function insidePieces(
  { fixes }: TimedTrack,
  zone: Zone,
  { index, turn }: { readonly index: number; readonly turn: number },
): Piece[] {
  const [a, b] = [fixes[index - 1], fixes[index]]
  if (a === undefined || b === undefined) return []
  const [x0, x1] = [a.lon + turn, b.lon + turn]
  const { tree } = zone
  if (Math.max(x0, x1) < tree.minX || Math.min(x0, x1) > tree.maxX) return []
  if (Math.max(a.lat, b.lat) < tree.minY || Math.min(a.lat, b.lat) > tree.maxY) return []
  const on = (share: number): Place => ({ lon: x0 + (x1 - x0) * share, lat: a.lat + (b.lat - a.lat) * share })
  const shares = [0, ...crossings(zone, [x0, a.lat, x1, b.lat]), 1]
  return shares.slice(1).flatMap((to, before) => {
    const from = shares[before] ?? 0
    if (to - from < 1e-12 || !isInside(on((from + to) / 2), zone)) return []
    const at = (share: number): number => a.time + (b.time - a.time) * share
    return [{ from_ms: at(from), to_ms: at(to), from: on(from), to: on(to) }]
  })
}

/** Where a leg meets edges, as ascending shares of its length. */
function crossings(
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
      const share = ((ex0 - x0) * ey - (ey0 - y0) * ex) / cross
      const along = ((ex0 - x0) * dy - (ey0 - y0) * dx) / cross
      return share > 0 && share < 1 && along >= 0 && along <= 1 ? [share] : []
    })
    .sort((a, b) => a - b)
}

const isInside = ({ lon, lat }: Place, { polygons }: Zone): boolean =>
  polygons.some((rings) =>
    booleanPointInPolygon([lon, lat], { type: 'Polygon', coordinates: rings as number[][][] }),
  )

/** Pieces that follow each other without a pause are one. */
function merged(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = []
  for (const piece of pieces) {
    const last = out.at(-1)
    if (last !== undefined && piece.from_ms <= last.to_ms)
      out[out.length - 1] = { ...last, to_ms: piece.to_ms, to: piece.to }
    else out.push(piece)
  }
  return out
}

function stay(
  { times }: TimedTrack,
  { from_ms, to_ms, from, to }: Piece,
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
