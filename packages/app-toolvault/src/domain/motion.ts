/** Where a track is at a time: between two fixes it moves evenly along the geodesic. */
import { compass, type Place, walk, way } from './geodesic.ts'
import { speedOf } from './leg.ts'
import type { TimedTrack } from './track.ts'

/** Course and speed at a time, derived from the leg around it. */
export interface Motion {
  /** null on a leg without length */
  readonly course_deg: number | null
  /** null on a leg without duration */
  readonly speed_kn: number | null
}

/** First and last time, ms. */
export const timeSpan = ({ times }: TimedTrack): readonly [start: number, end: number] => [
  times[0] ?? 0,
  times.at(-1) ?? 0,
]

/** Index of the last fix at or before a time; -1 before the first. */
export function fixBefore(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) <= time) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** The place at a time; undefined outside the track's span and between two parts of it. `walks` begins the way of a leg. */
export function placeAt(track: TimedTrack, time: number, walks = walk): Place | undefined {
  const index = fixBefore(track.times, time)
  const from = track.fixes[index]
  if (from === undefined) return undefined
  if (from.time === time) return { lon: from.lon, lat: from.lat }
  const to = track.fixes[index + 1]
  if (to === undefined || track.breaks.has(index + 1)) return undefined
  return walks(from, to).at((time - from.time) / (to.time - from.time))
}

/** The motion at a time of a track that is somewhere then; at the last fix that of the last leg. */
export function motionAt(track: TimedTrack, time: number): Motion {
  const found = fixBefore(track.times, time)
  const isLegAhead = found + 1 < track.fixes.length && !track.breaks.has(found + 1)
  const index = isLegAhead ? found : found - 1
  const [from, to] = [track.fixes[index], track.fixes[index + 1]]
  if (from === undefined || to === undefined || track.breaks.has(index + 1))
    return { course_deg: null, speed_kn: null }
  const leg = way(from, to)
  const speed_kn = speedOf(leg.distance_m, to.time - from.time)
  if (leg.distance_m < 1e-6) return { course_deg: null, speed_kn }
  const here = isLegAhead ? placeAt(track, time) : undefined
  const isUnderWay = here !== undefined && time > from.time
  return { course_deg: compass(isUnderWay ? way(here, to).bearing_deg : leg.bearing_deg), speed_kn }
}

/** The time that all tracks have in common; undefined where there is none. */
export function commonSpan(tracks: readonly TimedTrack[]): readonly [start: number, end: number] | undefined {
  const spans = tracks.map(timeSpan)
  const start = Math.max(...spans.map(([first]) => first))
  const end = Math.min(...spans.map(([, last]) => last))
  return start <= end ? [start, end] : undefined
}
