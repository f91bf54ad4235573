import { createLine, type LatLon, normalizeBearing, solveInverse } from '../geodesy/geodesic.ts'
import { computeSpeed } from './leg.ts'
import type { TimedTrack } from './track.ts'

export interface Motion {
  /** `null` if the leg has no length. */
  readonly course_deg: number | null
  /** `null` if the leg has no duration. */
  readonly speed_kn: number | null
}

/** Unix milliseconds. */
export type TimeSpan = readonly [start: number, end: number]

export const getTimeSpan = ({ times }: TimedTrack): TimeSpan => [times[0] ?? 0, times.at(-1) ?? 0]

/** Returns the index of the last fix at or before a time, or -1. */
export function findFixBefore(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low - 1
}

/**
 * Interpolates the position at a time along the geodesic of a leg, at constant speed. Returns `undefined` outside the
 * track's time span and between its parts. `getLine` can cache lines.
 */
export function interpolatePosition(
  track: TimedTrack,
  time: number,
  getLine = createLine,
): LatLon | undefined {
  const index = findFixBefore(track.times, time)
  const from = track.fixes[index]
  if (from === undefined) return undefined
  if (from.time === time) return { lon: from.lon, lat: from.lat }
  const to = track.fixes[index + 1]
  if (to === undefined || track.breaks.has(index + 1)) return undefined
  return getLine(from, to).at((time - from.time) / (to.time - from.time))
}

/** At the last fix, returns the motion of the last leg. The track must have a position at `time`. */
export function deriveMotion(track: TimedTrack, time: number): Motion {
  const fixIndex = findFixBefore(track.times, time)
  const hasNextLeg = fixIndex + 1 < track.fixes.length && !track.breaks.has(fixIndex + 1)
  const index = hasNextLeg ? fixIndex : fixIndex - 1
  const [from, to] = [track.fixes[index], track.fixes[index + 1]]
  if (from === undefined || to === undefined || track.breaks.has(index + 1))
    return { course_deg: null, speed_kn: null }
  const leg = solveInverse(from, to)
  const speed_kn = computeSpeed(leg.distance_m, to.time - from.time)
  if (leg.distance_m < 1e-6) return { course_deg: null, speed_kn }
  const position = hasNextLeg ? interpolatePosition(track, time) : undefined
  const isOnLeg = position !== undefined && time > from.time
  const course = isOnLeg ? solveInverse(position, to).bearing_deg : leg.bearing_deg
  return { course_deg: normalizeBearing(course), speed_kn }
}

export function findCommonSpan(tracks: readonly TimedTrack[]): TimeSpan | undefined {
  const spans = tracks.map(getTimeSpan)
  const start = Math.max(...spans.map(([first]) => first))
  const end = Math.min(...spans.map(([, last]) => last))
  return start <= end ? [start, end] : undefined
}
