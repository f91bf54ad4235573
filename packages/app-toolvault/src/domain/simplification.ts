/**
 * Fewer vertices, none of those left out further than a tolerance from the simplified track: top-down splitting at the
 * vertex that deviates most (Douglas and Peucker 1973; with the deviation at the same time, Meratnia and de By 2004).
 */
import { at, chord, earthVectors } from './earth-vector.ts'
import { distance, walk } from './geodesic.ts'
import type { Track } from './track.ts'

/** What a deviation is measured to: the place where the simplified track is at the time of the vertex, or its line. */
export type DeviationKind = 'time' | 'line'

/** Chords up to this length stand for the geodesic within half a metre. */
const shortChord = 100_000
const chordError = 0.5

/** Tolerances below this are checked by geodesics alone, m. */
const fineTolerance = 10

/** Depth from which a span is split in the middle: a zigzag would be as deep as it is long. */
const maxDepth = 48

interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Returns the indices of the vertices that stay, ascending; yields the number of vertices that are finished. Measures each
 * vertex at most `maxDepth + log2(n)` times.
 */
export function* keptVertices(
  track: Track,
  { tolerance_m, kind }: { readonly tolerance_m: number; readonly kind: DeviationKind },
): Generator<number, number[]> {
  const measure = deviations(track, tolerance_m, kind)
  const starts = [0, ...track.breaks]
  const kept = new Set<number>()
  let done = 0
  for (const [part, from] of starts.entries()) {
    const open = [{ from, to: (starts[part + 1] ?? track.places.length) - 1, depth: 0 }]
    for (let span = open.pop(); span !== undefined; span = open.pop()) {
      const { from, to, depth } = span
      kept.add(from).add(to)
      const farthest = worst(span, measure, tolerance_m)
      if (farthest === undefined) done += to - from
      else {
        const split = depth < maxDepth ? farthest : (from + to) >> 1
        open.push({ from: split, to, depth: depth + 1 }, { from, to: split, depth: depth + 1 })
      }
      yield done
    }
  }
  return [...kept].sort((a, b) => a - b)
}

/** The vertex of a span that deviates most; undefined where none does by more than the tolerance. */
function worst(
  { from, to }: Span,
  measure: (vertex: number, span: Span) => number,
  tolerance: number,
): number | undefined {
  const span = { from, to }
  let [split, most] = [-1, tolerance]
  for (let vertex = from + 1; vertex < to; vertex++) {
    const deviation = measure(vertex, span)
    if (deviation > most) [split, most] = [vertex, deviation]
  }
  return split < 0 ? undefined : split
}

function deviations(track: Track, tolerance: number, kind: DeviationKind) {
  const xyz = earthVectors(track.places)
  const fraction = kind === 'time' ? timeFraction(track) : lineFraction(xyz)
  let line: { readonly span: Span; readonly way: ReturnType<typeof walk> } | undefined
  const exact = (vertex: number, span: Span, share: number): number => {
    const [a, b, p] = [track.places[span.from], track.places[span.to], track.places[vertex]]
    if (a === undefined || b === undefined || p === undefined) return 0
    if (line?.span !== span) line = { span, way: walk(a, b) }
    return distance(line.way.at(share), p)
  }
  return (vertex: number, span: Span): number => {
    const share = fraction(vertex, span)
    const isExact = tolerance < fineTolerance || chord(xyz, span.from, span.to) > shortChord
    return isExact ? exact(vertex, span, share) : levelDistance(xyz, vertex, span, share) + chordError
  }
}

const timeFraction =
  ({ times = [] }: Track) =>
  (vertex: number, { from, to }: Span): number => {
    const [start, end] = [times[from] ?? 0, times[to] ?? 0]
    return end > start ? ((times[vertex] ?? 0) - start) / (end - start) : 0
  }

const lineFraction =
  (xyz: Float64Array) =>
  (vertex: number, { from, to }: Span): number => {
    let [along, square] = [0, 0]
    for (let axis = 0; axis < 3; axis++) {
      const start = at(xyz, from * 3 + axis)
      const step = at(xyz, to * 3 + axis) - start
      along += (at(xyz, vertex * 3 + axis) - start) * step
      square += step * step
    }
    return square > 0 ? Math.min(1, Math.max(0, along / square)) : 0
  }

/** Distance from a vertex to the point of a chord, without what the chord lies below the surface. */
function levelDistance(xyz: Float64Array, vertex: number, { from, to }: Span, share: number): number {
  let [square, up, size] = [0, 0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const start = at(xyz, from * 3 + axis)
    const place = at(xyz, vertex * 3 + axis)
    const apart = place - (start + (at(xyz, to * 3 + axis) - start) * share)
    square += apart * apart
    up += apart * place
    size += place * place
  }
  return Math.sqrt(Math.max(0, square - (up * up) / size))
}
