import { selectVertices } from '@causeway/plot'
import { getCoordinate, measureChord, toEarthVectors } from '../geodesy/earth-vector.ts'
import { computeDistance, createLine, type GeodesicLine } from '../geodesy/geodesic.ts'
import type { Track } from './track.ts'

/** Deviation of a vertex from the simplified track: from its position at the same time, or from its line. */
type DeviationKind = 'time' | 'line'

/** Length in metres up to which a chord deviates from the geodesic by at most `chordError`. */
const maxChordLength = 100_000
const chordError = 0.5

/** Tolerance in metres below which only geodesics are used. */
const minChordTolerance = 10

interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Simplifies by line (Douglas and Peucker 1973) or by time (Meratnia and de By 2004). Yields the number of finished
 * vertices. Returns the retained indices in ascending order.
 */
export function simplifyTrack(
  track: Track,
  { tolerance_m, kind }: { readonly tolerance_m: number; readonly kind: DeviationKind },
): Generator<number, number[]> {
  const measure = createMeasure(track, tolerance_m, kind)
  const partStarts = [0, ...track.breaks]
  const parts = partStarts.map((from, part) => ({
    from,
    to: (partStarts[part + 1] ?? track.positions.length) - 1,
  }))
  return selectVertices(parts, (span) => {
    let [farthest, max] = [-1, tolerance_m]
    for (let vertex = span.from + 1; vertex < span.to; vertex++) {
      const deviation = measure(vertex, span)
      if (deviation > max) [farthest, max] = [vertex, deviation]
    }
    return farthest < 0 ? undefined : farthest
  })
}

function createMeasure(track: Track, tolerance: number, kind: DeviationKind) {
  const xyz = toEarthVectors(track.positions)
  const computeFraction = kind === 'time' ? createTimeFraction(track) : createLineFraction(xyz)
  let lineCache: { readonly span: Span; readonly line: GeodesicLine } | undefined
  const measureGeodesic = (vertex: number, span: Span, fraction: number): number => {
    const [a, b, position] = [track.positions[span.from], track.positions[span.to], track.positions[vertex]]
    if (a === undefined || b === undefined || position === undefined) return 0
    if (lineCache?.span !== span) lineCache = { span, line: createLine(a, b) }
    return computeDistance(lineCache.line.at(fraction), position)
  }
  return (vertex: number, span: Span): number => {
    const fraction = computeFraction(vertex, span)
    const requiresGeodesic =
      tolerance < minChordTolerance || measureChord(xyz, span.from, span.to) > maxChordLength
    return requiresGeodesic
      ? measureGeodesic(vertex, span, fraction)
      : measureHorizontalDistance(xyz, vertex, span, fraction) + chordError
  }
}

const createTimeFraction =
  ({ times = [] }: Track) =>
  (vertex: number, { from, to }: Span): number => {
    const [start, end] = [times[from] ?? 0, times[to] ?? 0]
    return end > start ? ((times[vertex] ?? 0) - start) / (end - start) : 0
  }

const createLineFraction =
  (xyz: Float64Array) =>
  (vertex: number, { from, to }: Span): number => {
    let [dotProduct, squaredDistance] = [0, 0]
    for (let axis = 0; axis < 3; axis++) {
      const start = getCoordinate(xyz, from * 3 + axis)
      const delta = getCoordinate(xyz, to * 3 + axis) - start
      dotProduct += (getCoordinate(xyz, vertex * 3 + axis) - start) * delta
      squaredDistance += delta * delta
    }
    return squaredDistance > 0 ? Math.min(1, Math.max(0, dotProduct / squaredDistance)) : 0
  }

function measureHorizontalDistance(
  xyz: Float64Array,
  vertex: number,
  { from, to }: Span,
  fraction: number,
): number {
  let [squaredDistance, verticalProduct, squaredRadius] = [0, 0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const start = getCoordinate(xyz, from * 3 + axis)
    const coordinate = getCoordinate(xyz, vertex * 3 + axis)
    const offset = coordinate - (start + (getCoordinate(xyz, to * 3 + axis) - start) * fraction)
    squaredDistance += offset * offset
    verticalProduct += offset * coordinate
    squaredRadius += coordinate * coordinate
  }
  return Math.sqrt(Math.max(0, squaredDistance - (verticalProduct * verticalProduct) / squaredRadius))
}
