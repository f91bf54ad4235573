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

/** A track with its places as vectors, made once for all pairs. */
export interface Moving {
  readonly track: TimedTrack
  readonly xyz: Float64Array
}

/** An interval with a bound below which the distance cannot be in it. */
interface Candidate {
  readonly start: number
  readonly end: number
  /** where the chord is shortest, ms */
  readonly likely: number
  readonly least_m: number
}

/** Makes the vectors. */
export const moving = (track: TimedTrack): Moving => ({ track, xyz: earthVectors(track.places) })

/** The approach; undefined where the tracks have no time in common. */
export function closestApproach(a: Moving, b: Moving): Approach | undefined {
  let best: { readonly time: number; readonly distance_m: number } | undefined
  for (const candidate of candidates(a, b)) {
    if (best !== undefined && candidate.least_m >= best.distance_m) break
    const found = refined(a.track, b.track, candidate)
    if (found !== undefined && (best === undefined || found.distance_m < best.distance_m)) best = found
  }
  if (best === undefined) return undefined
  const { time, distance_m } = best
  const [placeA, placeB] = [placeAt(a.track, time), placeAt(b.track, time)]
  if (placeA === undefined || placeB === undefined) return undefined
  const { bearing_deg } = way(placeA, placeB)
  return { time, distance_m, a: placeA, b: placeB, bearing_deg }
}

/** Intervals of even motion, the most promising first. */
function candidates(a: Moving, b: Moving): readonly Candidate[] {
  const span = commonSpan([a.track, b.track])
  if (span === undefined) return []
  const [start, end] = span
  const found: Candidate[] = []
  let [i, j] = [fixBefore(a.track.times, start), fixBefore(b.track.times, start)]
  let time = start
  while (time <= end) {
    while ((a.track.times[i + 1] ?? Number.POSITIVE_INFINITY) <= time) i++
    while ((b.track.times[j + 1] ?? Number.POSITIVE_INFINITY) <= time) j++
    const next = Math.min(a.track.times[i + 1] ?? end, b.track.times[j + 1] ?? end, end)
    const candidate = screened([a, i], [b, j], [time, Math.max(time, next)])
    if (candidate !== undefined) found.push(candidate)
    if (next <= time) break
    time = next
  }
  return found.sort((one, other) => one.least_m - other.least_m)
}

function screened(
  [a, i]: readonly [Moving, number],
  [b, j]: readonly [Moving, number],
  [start, end]: readonly [number, number],
): Candidate | undefined {
  const [nextA, nextB] = [legEnd(a.track, i), legEnd(b.track, j)]
  // Between two parts of a track nothing is known.
  if ((nextA === i || nextB === j) && start < end) return undefined
  const [a0, a1] = [fractionAt(a.track, [i, nextA], start), fractionAt(a.track, [i, nextA], end)]
  const [b0, b1] = [fractionAt(b.track, [j, nextB], start), fractionAt(b.track, [j, nextB], end)]
  let [along, across, square] = [0, 0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const [pa, qa] = [at(a.xyz, i * 3 + axis), at(a.xyz, nextA * 3 + axis)]
    const [pb, qb] = [at(b.xyz, j * 3 + axis), at(b.xyz, nextB * 3 + axis)]
    const first = pb + (qb - pb) * b0 - (pa + (qa - pa) * a0)
    const change = pb + (qb - pb) * b1 - (pa + (qa - pa) * a1) - first
    along += first * change
    across += change * change
    square += first * first
  }
  const share = across > 0 ? Math.min(1, Math.max(0, -along / across)) : 0
  const least = Math.sqrt(Math.max(0, square + share * (2 * along + share * across)))
  const below = sagitta(chord(a.xyz, i, nextA)) + sagitta(chord(b.xyz, j, nextB))
  return {
    start,
    end,
    likely: start + (end - start) * share,
    least_m: Math.max(0, least - 1.01 * below - 0.01),
  }
}

const legEnd = ({ fixes, breaks }: TimedTrack, index: number): number =>
  index + 1 < fixes.length && !breaks.has(index + 1) ? index + 1 : index

function fractionAt({ times }: TimedTrack, [from, to]: readonly [number, number], time: number): number {
  const [start, end] = [times[from] ?? 0, times[to] ?? 0]
  return end > start ? (time - start) / (end - start) : 0
}

/** The square of the distance is nearly a parabola in time: its vertex is looked for in ever smaller steps. */
function refined(
  a: TimedTrack,
  b: TimedTrack,
  { start, end, likely }: Candidate,
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
