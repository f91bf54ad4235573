/**
 * The closest point of approach that two tracks had, between fixes included. Intervals in which both move evenly are
 * screened by chords through the earth in closed form; those that could hold the minimum are refined on the ellipsoid.
 */
import { at, chord, earthVectors, sagitta } from './earth-vector.ts'
import { distance, type Place, way } from './geodesic.ts'
import { commonSpan, fixBefore, placeAt } from './motion.ts'
import type { TimedTrack } from './track.ts'

/** The closest approach. */
export interface Approach {
  readonly time: number
  readonly distance_m: number
  readonly a: Place
  readonly b: Place
  /** bearing from a to b, degrees */
  readonly bearing_deg: number
}

/** A track with what the screening needs of it, made once for all pairs. */
export interface Moving {
  readonly track: TimedTrack
  readonly xyz: Float64Array
  /** how far the leg that begins at a vertex lies below the surface at most, m */
  readonly below: Float64Array
}

/** An interval of even motion: its bounds, where the chord is shortest, and what the distance is at least; ms and m. */
type Interval = readonly [start: number, end: number, likely: number, least_m: number]

/** Numbers of an interval in a row. */
const width = 4

/** Makes the vectors. */
export function moving(track: TimedTrack): Moving {
  const xyz = earthVectors(track.places)
  const below = Float64Array.from(track.places, (_, index) =>
    index + 1 < track.places.length ? sagitta(chord(xyz, index, index + 1)) : 0,
  )
  return { track, xyz, below }
}

/** The approach; undefined where the tracks have no time in common. */
export function closestApproach(a: Moving, b: Moving): Approach | undefined {
  const rows = intervals(a, b)
  const first = rowOf(rows, leastRow(rows))
  let best = first === undefined ? undefined : refined(a.track, b.track, first)
  if (best === undefined) return undefined
  for (const interval of below(rows, best.distance_m)) {
    if (interval[3] >= best.distance_m) break
    const found = refined(a.track, b.track, interval)
    if (found !== undefined && found.distance_m < best.distance_m) best = found
  }
  const { time, distance_m } = best
  const [placeA, placeB] = [placeAt(a.track, time), placeAt(b.track, time)]
  if (placeA === undefined || placeB === undefined) return undefined
  const { bearing_deg } = way(placeA, placeB)
  return { time, distance_m, a: placeA, b: placeB, bearing_deg }
}

function rowOf(rows: Float64Array, row: number): Interval | undefined {
  const [start, end, likely, least] = rows.subarray(row * width, row * width + width)
  return start === undefined || end === undefined || likely === undefined || least === undefined
    ? undefined
    : [start, end, likely, least]
}

function leastRow(rows: Float64Array): number {
  let found = 0
  for (let row = 1; row * width < rows.length; row++)
    if (at(rows, row * width + 3) < at(rows, found * width + 3)) found = row
  return found
}

/** The intervals in which the distance could be shorter, the most promising first. */
function below(rows: Float64Array, metres: number): readonly Interval[] {
  const found: Interval[] = []
  for (let row = 0; row * width < rows.length; row++) {
    const interval = at(rows, row * width + 3) < metres ? rowOf(rows, row) : undefined
    if (interval !== undefined) found.push(interval)
  }
  return found.sort((one, other) => one[3] - other[3])
}

/** Every interval of the common time in which both move evenly; shape [intervals, 4], row-major. */
function intervals(a: Moving, b: Moving): Float64Array {
  const span = commonSpan([a.track, b.track])
  if (span === undefined) return new Float64Array(0)
  const [start, end] = span
  const [timesA, timesB] = [a.track.times, b.track.times]
  const rows = new Float64Array((timesA.length + timesB.length + 1) * width)
  let [i, j, row, time] = [fixBefore(timesA, start), fixBefore(timesB, start), 0, start]
  for (;;) {
    while ((timesA[i + 1] ?? Number.POSITIVE_INFINITY) <= time) i++
    while ((timesB[j + 1] ?? Number.POSITIVE_INFINITY) <= time) j++
    const next = Math.max(time, Math.min(timesA[i + 1] ?? end, timesB[j + 1] ?? end, end))
    if (screen(rows, row * width, { a, i, b, j, start: time, end: next })) row++
    if (next <= time || next >= end) return rows.subarray(0, row * width)
    time = next
  }
}

interface Piece {
  readonly a: Moving
  readonly i: number
  readonly b: Moving
  readonly j: number
  readonly start: number
  readonly end: number
}

/** Writes a row; false between two parts of a track, where nothing is known. */
function screen(rows: Float64Array, offset: number, { a, i, b, j, start, end }: Piece): boolean {
  const [nextA, nextB] = [legEnd(a.track, i), legEnd(b.track, j)]
  if ((nextA === i || nextB === j) && start < end) return false
  const a0 = fractionAt(a.track, i, nextA, start)
  const a1 = fractionAt(a.track, i, nextA, end)
  const b0 = fractionAt(b.track, j, nextB, start)
  const b1 = fractionAt(b.track, j, nextB, end)
  let [along, across, square] = [0, 0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const pa = at(a.xyz, i * 3 + axis)
    const va = at(a.xyz, nextA * 3 + axis) - pa
    const pb = at(b.xyz, j * 3 + axis)
    const vb = at(b.xyz, nextB * 3 + axis) - pb
    const first = pb + vb * b0 - (pa + va * a0)
    const change = vb * (b1 - b0) - va * (a1 - a0)
    along += first * change
    across += change * change
    square += first * first
  }
  const share = across > 0 ? Math.min(1, Math.max(0, -along / across)) : 0
  const least = Math.sqrt(Math.max(0, square + share * (2 * along + share * across)))
  rows[offset] = start
  rows[offset + 1] = end
  rows[offset + 2] = start + (end - start) * share
  rows[offset + 3] = Math.max(0, least - 1.01 * (at(a.below, i) + at(b.below, j)) - 0.01)
  return true
}

const legEnd = ({ places, breaks }: TimedTrack, index: number): number =>
  index + 1 < places.length && !breaks.has(index + 1) ? index + 1 : index

function fractionAt({ times }: TimedTrack, from: number, to: number, time: number): number {
  const [start, end] = [times[from] ?? 0, times[to] ?? 0]
  return end > start ? (time - start) / (end - start) : 0
}

/** The square of the distance is nearly a parabola in time: its vertex is looked for in ever smaller steps. */
function refined(
  a: TimedTrack,
  b: TimedTrack,
  [start, end, likely]: Interval,
): { time: number; distance_m: number } | undefined {
  const known = new Map<number, number>()
  const square = (time: number): number => {
    const seen = known.get(time)
    if (seen !== undefined) return seen
    const [from, to] = [placeAt(a, time), placeAt(b, time)]
    const value = from === undefined || to === undefined ? Number.POSITIVE_INFINITY : distance(from, to) ** 2
    known.set(time, value)
    return value
  }
  const inside = (time: number): number => Math.min(end, Math.max(start, time))
  let time = likely
  square(time)
  square(start)
  square(end)
  for (let step = (end - start) / 20; step > 5; step /= 20) {
    const middle = Math.min(end - step, Math.max(start + step, time))
    time = inside(vertex([middle - step, middle, middle + step], square))
    square(time)
  }
  const [best] = [...known].sort(([, one], [, other]) => one - other)
  return best === undefined || !Number.isFinite(best[1])
    ? undefined
    : { time: best[0], distance_m: Math.sqrt(best[1]) }
}

/** Where the parabola through three points has its vertex; the middle one where they lie on a line. */
function vertex([x0, x1, x2]: readonly [number, number, number], f: (x: number) => number): number {
  const [y0, y1, y2] = [f(x0), f(x1), f(x2)]
  const bend = y0 - 2 * y1 + y2
  return bend > 0 ? x1 + ((x1 - x0) * (y0 - y2)) / (2 * bend) : y0 < y2 ? x0 : y2 < y1 ? x2 : x1
}
