import {
  computeDistance,
  createLine,
  findBearingProblem,
  type GeodesicLine,
  type LatLon,
  solveInverse,
} from '../geodesy/geodesic.ts'
import { interpolatePosition } from '../track/motion.ts'
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
  readonly a: LatLon
  readonly b: LatLon
  /** Bearing of b from a, or `null` if the tracks meet. */
  readonly bearing_deg: number | null
}

/** Finds the closest point of approach, even between fixes. Returns `undefined` if the tracks never overlap in time. */
export function findClosestApproach(a: IndexedTrack, b: IndexedTrack): Approach | undefined {
  const closestPoint = findClosestPoint(a, b)
  if (closestPoint === undefined) return undefined
  const { time, distance_m } = closestPoint
  const [positionA, positionB] = [interpolatePosition(a.track, time), interpolatePosition(b.track, time)]
  if (positionA === undefined || positionB === undefined) return undefined
  const path = solveInverse(positionA, positionB)
  const bearing_deg = findBearingProblem(positionA, positionB, path) === undefined ? path.bearing_deg : null
  return { time, distance_m, a: positionA, b: positionB, bearing_deg }
}

/** Visits windows and intervals by ascending lower bound of the distance, until it reaches the shortest distance found. */
function findClosestPoint(a: IndexedTrack, b: IndexedTrack): ClosestPoint | undefined {
  const windows = listWindows(a, b)
  const openQueues: SpanQueue[] = []
  let closest: ClosestPoint | undefined
  for (;;) {
    const window = windows.first
    const nextQueue = selectNextQueue(openQueues)
    const interval = nextQueue?.first
    const isWindowNext = window !== undefined && window.min_m <= (interval?.min_m ?? window.min_m)
    const next = isWindowNext ? window : interval
    if (next === undefined || (closest !== undefined && next.min_m >= closest.distance_m)) return closest
    if (isWindowNext) {
      openQueues.push(listIntervals(a, b, next))
      windows.removeFirst()
    } else {
      const candidate = findClosestPointInSpan(a.track, b.track, next)
      if (candidate !== undefined && (closest === undefined || candidate.distance_m < closest.distance_m))
        closest = candidate
      nextQueue?.removeFirst()
    }
  }
}

function selectNextQueue(openQueues: readonly SpanQueue[]): SpanQueue | undefined {
  let nextQueue: SpanQueue | undefined
  for (const queue of openQueues) if (comesBefore(queue.first, nextQueue?.first)) nextQueue = queue
  return nextQueue
}

function comesBefore(a: Span | undefined, b: Span | undefined): boolean {
  if (a === undefined || b === undefined) return a !== undefined
  return a.min_m < b.min_m || (a.min_m === b.min_m && a.start < b.start)
}

/**
 * Searches in decreasing steps for the minimum of the squared distance, which is almost a parabola over time.
 * Returns `undefined` if a track has no position in the span.
 */
export function findClosestPointInSpan(
  a: TimedTrack,
  b: TimedTrack,
  { start, end, likelyTime }: Span,
): ClosestPoint | undefined {
  const squaredDistances = new Map<number, number>()
  const getLine = cacheLines()
  const computeSquaredDistance = (time: number): number => {
    const cachedValue = squaredDistances.get(time)
    if (cachedValue !== undefined) return cachedValue
    const [from, to] = [interpolatePosition(a, time, getLine), interpolatePosition(b, time, getLine)]
    const squaredDistance =
      from === undefined || to === undefined ? Number.POSITIVE_INFINITY : computeDistance(from, to) ** 2
    squaredDistances.set(time, squaredDistance)
    return squaredDistance
  }
  const clampTime = (time: number): number => Math.min(end, Math.max(start, time))
  let time = likelyTime
  computeSquaredDistance(time)
  computeSquaredDistance(start)
  computeSquaredDistance(end)
  for (let step = (end - start) / 20; step > 5; step /= 20) {
    const center = Math.min(end - step, Math.max(start + step, time))
    time = clampTime(findVertex([center - step, center, center + step], computeSquaredDistance))
    computeSquaredDistance(time)
  }
  const [closest] = [...squaredDistances].sort(([, a], [, b]) => a - b)
  return closest === undefined || !Number.isFinite(closest[1])
    ? undefined
    : { time: closest[0], distance_m: Math.sqrt(closest[1]) }
}

function cacheLines(): typeof createLine {
  const lines = new Map<LatLon, GeodesicLine>()
  return (from, to) => {
    const line = lines.get(from) ?? createLine(from, to)
    lines.set(from, line)
    return line
  }
}

/** Returns the x of the parabola's minimum, or of the lower end if the parabola has no minimum. */
function findVertex([x0, x1, x2]: readonly [number, number, number], f: (x: number) => number): number {
  const [y0, y1, y2] = [f(x0), f(x1), f(x2)]
  const curvature = y0 - 2 * y1 + y2
  return curvature > 0 ? x1 + ((x1 - x0) * (y0 - y2)) / (2 * curvature) : y0 < y2 ? x0 : y2 < y1 ? x2 : x1
}
