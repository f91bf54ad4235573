/**
 * The closest point of approach that two tracks had, between fixes included. Bounds on the distance come from boxes around
 * runs of legs, then from chords through the earth; what could hold the minimum, best first, is told by geodesics.
 */
import { intervalsOf } from './even-motion.ts'
import { distance, type Place, walk, way } from './geodesic.ts'
import { placeAt } from './motion.ts'
import { type Moving, windowsOf } from './moving.ts'
import type { Span, Spans } from './spans.ts'
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

/** When two tracks were how close. */
export interface Nearest {
  readonly time: number
  readonly distance_m: number
}

/** The approach; undefined where the tracks have no time in common. */
export function closestApproach(a: Moving, b: Moving): Approach | undefined {
  const nearest = nearestOf(a, b)
  if (nearest === undefined) return undefined
  const { time, distance_m } = nearest
  const [placeA, placeB] = [placeAt(a.track, time), placeAt(b.track, time)]
  if (placeA === undefined || placeB === undefined) return undefined
  const { bearing_deg } = way(placeA, placeB)
  return { time, distance_m, a: placeA, b: placeB, bearing_deg }
}

/** Goes through windows and their intervals by what the distance is at least, until that is more than was found. */
function nearestOf(a: Moving, b: Moving): Nearest | undefined {
  const windows = windowsOf(a, b)
  const open: Spans[] = []
  let best: Nearest | undefined
  for (;;) {
    const window = windows.first
    const ahead = mostPromising(open)
    const interval = ahead?.first
    const isWindowNext = window !== undefined && window.least_m <= (interval?.least_m ?? window.least_m)
    const next = isWindowNext ? window : interval
    if (next === undefined || (best !== undefined && next.least_m >= best.distance_m)) return best
    if (isWindowNext) {
      open.push(intervalsOf(a, b, next))
      windows.shift()
    } else {
      const found = nearestIn(a.track, b.track, next)
      if (found !== undefined && (best === undefined || found.distance_m < best.distance_m)) best = found
      ahead?.shift()
    }
  }
}

/** Where the distance could be shortest; of several the earliest. */
function mostPromising(open: readonly Spans[]): Spans | undefined {
  let best: Spans | undefined
  for (const one of open) if (isBefore(one.first, best?.first)) best = one
  return best
}

function isBefore(one: Span | undefined, other: Span | undefined): boolean {
  if (one === undefined || other === undefined) return one !== undefined
  return one.least_m < other.least_m || (one.least_m === other.least_m && one.start < other.start)
}

/**
 * When two tracks that move evenly in a span are closest in it; undefined where one of them is nowhere. The square of the
 * distance is nearly a parabola in time: its vertex is looked for in ever smaller steps.
 */
export function nearestIn(a: TimedTrack, b: TimedTrack, { start, end, likely }: Span): Nearest | undefined {
  const known = new Map<number, number>()
  const walks = keptWalks()
  const square = (time: number): number => {
    const seen = known.get(time)
    if (seen !== undefined) return seen
    const [from, to] = [placeAt(a, time, walks), placeAt(b, time, walks)]
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

/** Walks that are begun once: the legs of an interval are the same at each of its times. */
function keptWalks(): typeof walk {
  const known = new Map<Place, ReturnType<typeof walk>>()
  return (from, to) => {
    const kept = known.get(from) ?? walk(from, to)
    known.set(from, kept)
    return kept
  }
}

/** Where the parabola through three points has its vertex; the middle one where they lie on a line. */
function vertex([x0, x1, x2]: readonly [number, number, number], f: (x: number) => number): number {
  const [y0, y1, y2] = [f(x0), f(x1), f(x2)]
  const bend = y0 - 2 * y1 + y2
  return bend > 0 ? x1 + ((x1 - x0) * (y0 - y2)) / (2 * bend) : y0 < y2 ? x0 : y2 < y1 ? x2 : x1
}
