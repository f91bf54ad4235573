import { selectVertices } from '@causeway/plot'
import { getCoordinate, measureChord, toEarthVectors } from '../geodesy/earth-vector.ts'
import { computeDistance, createLine, type GeodesicLine } from '../geodesy/geodesic.ts'
import type { Track } from './track.ts'

/** Deviation of a vertex from the simplified track: from its position at the same time, or from its line. */
type DeviationKind = 'time' | 'line'

/** Length in metres up to which a chord deviates from the geodesic by at most `chordError`. */
const maxChord = 100_000
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
  const starts = [0, ...track.breaks]
  const parts = starts.map((from, part) => ({ from, to: (starts[part + 1] ?? track.places.length) - 1 }))
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
  const xyz = toEarthVectors(track.places)
  const getFraction = kind === 'time' ? createTimeFraction(track) : createLineFraction(xyz)
  let current: { readonly span: Span; readonly line: GeodesicLine } | undefined
  const measureGeodesic = (vertex: number, span: Span, fraction: number): number => {
    const [a, b, p] = [track.places[span.from], track.places[span.to], track.places[vertex]]
    if (a === undefined || b === undefined || p === undefined) return 0
    if (current?.span !== span) current = { span, line: createLine(a, b) }
    return computeDistance(current.line.at(fraction), p)
  }
  return (vertex: number, span: Span): number => {
    const fraction = getFraction(vertex, span)
    const isExact = tolerance < minChordTolerance || measureChord(xyz, span.from, span.to) > maxChord
    return isExact
      ? measureGeodesic(vertex, span, fraction)
      : measureLevelDistance(xyz, vertex, span, fraction) + chordError
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
    let [along, square] = [0, 0]
    for (let axis = 0; axis < 3; axis++) {
      const start = getCoordinate(xyz, from * 3 + axis)
      const step = getCoordinate(xyz, to * 3 + axis) - start
      along += (getCoordinate(xyz, vertex * 3 + axis) - start) * step
      square += step * step
    }
    return square > 0 ? Math.min(1, Math.max(0, along / square)) : 0
  }

function measureLevelDistance(
  xyz: Float64Array,
  vertex: number,
  { from, to }: Span,
  fraction: number,
): number {
  let [square, up, size] = [0, 0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const start = getCoordinate(xyz, from * 3 + axis)
    const place = getCoordinate(xyz, vertex * 3 + axis)
    const apart = place - (start + (getCoordinate(xyz, to * 3 + axis) - start) * fraction)
    square += apart * apart
    up += apart * place
    size += place * place
  }
  return Math.sqrt(Math.max(0, square - (up * up) / size))
}
