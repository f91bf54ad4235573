import {
  computeDistance,
  createLine,
  findBearingProblem,
  type GeodesicLine,
  type Place,
  solveInverse,
} from '../geodesy/geodesic.ts'
import { interpolatePlace } from '../track/motion.ts'
import type { TimedTrack } from '../track/track.ts'
import { type IndexedTrack, listWindows } from './indexed-track.ts'
import { listIntervals } from './intervals.ts'
import type { Span, SpanQueue } from './span-queue.ts'

export interface ClosestPoint {
  /** Unix milliseconds. */
  readonly time: number
  readonly distance_m: number
}

export interface Approach extends ClosestPoint {
  readonly a: Place
  readonly b: Place
  /** Bearing of b from a, or `null` if the tracks meet. */
  readonly bearing_deg: number | null
}

/** Finds the closest point of approach, even between fixes. Returns `undefined` if the tracks never overlap in time. */
export function findClosestApproach(a: IndexedTrack, b: IndexedTrack): Approach | undefined {
  const nearest = findNearest(a, b)
  if (nearest === undefined) return undefined
  const { time, distance_m } = nearest
  const [placeA, placeB] = [interpolatePlace(a.track, time), interpolatePlace(b.track, time)]
  if (placeA === undefined || placeB === undefined) return undefined
  const path = solveInverse(placeA, placeB)
  const bearing_deg = findBearingProblem(placeA, placeB, path) === undefined ? path.bearing_deg : null
  return { time, distance_m, a: placeA, b: placeB, bearing_deg }
}

/** Visits windows and their intervals by ascending lower bound, until the bound reaches the shortest distance found. */
function findNearest(a: IndexedTrack, b: IndexedTrack): ClosestPoint | undefined {
  const windows = listWindows(a, b)
  const open: SpanQueue[] = []
  let best: ClosestPoint | undefined
  for (;;) {
    const window = windows.first
    const nextQueue = selectQueue(open)
    const interval = nextQueue?.first
    const isWindowNext = window !== undefined && window.min_m <= (interval?.min_m ?? window.min_m)
    const next = isWindowNext ? window : interval
    if (next === undefined || (best !== undefined && next.min_m >= best.distance_m)) return best
    if (isWindowNext) {
      open.push(listIntervals(a, b, next))
      windows.removeFirst()
    } else {
      const found = findNearestIn(a.track, b.track, next)
      if (found !== undefined && (best === undefined || found.distance_m < best.distance_m)) best = found
      nextQueue?.removeFirst()
    }
  }
}

function selectQueue(open: readonly SpanQueue[]): SpanQueue | undefined {
  let best: SpanQueue | undefined
  for (const one of open) if (isSpanBefore(one.first, best?.first)) best = one
  return best
}

function isSpanBefore(one: Span | undefined, other: Span | undefined): boolean {
  if (one === undefined || other === undefined) return one !== undefined
  return one.min_m < other.min_m || (one.min_m === other.min_m && one.start < other.start)
}

/**
 * Searches in decreasing steps for the minimum of the squared distance, which is almost a parabola over time.
 * Returns `undefined` if a track has no position in the span.
 */
export function findNearestIn(
  a: TimedTrack,
  b: TimedTrack,
  { start, end, likelyTime: likely }: Span,
): ClosestPoint | undefined {
  const known = new Map<number, number>()
  const getLine = cacheLines()
  const computeSquaredDistance = (time: number): number => {
    const seen = known.get(time)
    if (seen !== undefined) return seen
    const [from, to] = [interpolatePlace(a, time, getLine), interpolatePlace(b, time, getLine)]
    const value =
      from === undefined || to === undefined ? Number.POSITIVE_INFINITY : computeDistance(from, to) ** 2
    known.set(time, value)
    return value
  }
  const clampTime = (time: number): number => Math.min(end, Math.max(start, time))
  let time = likely
  computeSquaredDistance(time)
  computeSquaredDistance(start)
  computeSquaredDistance(end)
  for (let step = (end - start) / 20; step > 5; step /= 20) {
    const middle = Math.min(end - step, Math.max(start + step, time))
    time = clampTime(findVertex([middle - step, middle, middle + step], computeSquaredDistance))
    computeSquaredDistance(time)
  }
  const [best] = [...known].sort(([, one], [, other]) => one - other)
  return best === undefined || !Number.isFinite(best[1])
    ? undefined
    : { time: best[0], distance_m: Math.sqrt(best[1]) }
}

function cacheLines(): typeof createLine {
  const known = new Map<Place, GeodesicLine>()
  return (from, to) => {
    const line = known.get(from) ?? createLine(from, to)
    known.set(from, line)
    return line
  }
}

/** Returns the minimum of the parabola, or the end with the lower value if the parabola has no minimum. */
function findVertex([x0, x1, x2]: readonly [number, number, number], f: (x: number) => number): number {
  const [y0, y1, y2] = [f(x0), f(x1), f(x2)]
  const bend = y0 - 2 * y1 + y2
  return bend > 0 ? x1 + ((x1 - x0) * (y0 - y2)) / (2 * bend) : y0 < y2 ? x0 : y2 < y1 ? x2 : x1
}
