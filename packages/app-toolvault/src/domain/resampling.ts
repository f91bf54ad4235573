/** Tracks at even times: places on the geodesics between fixes, speeds and courses between their neighbours. */

import { formatTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import type { Feature } from './feature.ts'
import { compass, type Place, signedAngle } from './geodesic.ts'
import { normalLon } from './longitude.ts'
import { fixBefore, placeAt, timeSpan } from './motion.ts'
import type { TimedTrack } from './track.ts'

/** Most fixes of a resampled track. */
export const mostFixes = 1_000_000

/** How a track is resampled. */
export interface Resampling {
  readonly interval_s: number
  /** legs that last longer are left as gaps, s */
  readonly max_gap_s: number
}

/** A track at even times. */
export interface Resampled {
  readonly feature: Feature
  readonly fixes: number
  readonly gaps: number
}

/** The middle one of the times between fixes, s. */
export function medianInterval({ times }: TimedTrack): number {
  const steps = times
    .slice(1)
    .map((time, index) => (time - (times[index] ?? 0)) / 1000)
    .sort((a, b) => a - b)
  return steps[steps.length >> 1] ?? 0
}

/** Every `interval_s` from the first fix on, and the last fix; nothing inside gaps. Throws `IMPORT_TOO_LARGE`. */
export function resampled(track: TimedTrack, { interval_s, max_gap_s }: Resampling): Resampled {
  const [start, end] = timeSpan(track)
  const step = interval_s * 1000
  const count = Math.floor((end - start) / step) + 2
  if (count > mostFixes)
    throw new CausewayError('IMPORT_TOO_LARGE', `${track.name} would get ${count} fixes`, {
      remedy: 'pass a longer interval_s',
      data: { fixes: count, most: mostFixes },
    })
  const isGap = (time: number): boolean => {
    const index = fixBefore(track.times, time)
    const [from, to] = [track.times[index] ?? time, track.times[index + 1] ?? time]
    return time !== from && (track.breaks.has(index + 1) || to - from > max_gap_s * 1000)
  }
  const even = Array.from({ length: count - 1 }, (_, index) => start + index * step)
  const edges = gapEdges(track, max_gap_s)
  const times = [...new Set([...even.filter((time) => !isGap(time)), ...edges, end])].sort((a, b) => a - b)
  return {
    feature: atTimes(track, times),
    fixes: times.length,
    gaps: edges.length / 2,
  }
}

/** The fixes around gaps stay, so that the gap stays as long as it was. */
function gapEdges({ times, breaks }: TimedTrack, max: number): number[] {
  return times.flatMap((time, index) => {
    const next = times[index + 1]
    if (next === undefined) return []
    return breaks.has(index + 1) || next - time > max * 1000 ? [time, next] : []
  })
}

/** Per-vertex lists that are no speeds and courses have no values in between and are left out. */
function atTimes(track: TimedTrack, times: readonly number[]): Feature {
  const { feature, speeds, courses, fixes } = track
  const others = Object.entries(feature.properties).filter(
    ([name, value]) =>
      !['timestamps', 'speeds', 'courses'].includes(name) &&
      !(Array.isArray(value) && value.length === fixes.length),
  )
  const places = times.map((time) => placeAt(track, time)).filter((place) => place !== undefined)
  return {
    ...feature,
    geometry: { type: 'LineString', coordinates: places.map(({ lon, lat }) => [normalLon(lon), lat]) },
    properties: {
      ...Object.fromEntries(others),
      timestamps: times.map(formatTime),
      ...(speeds === undefined ? {} : { speeds: times.map((time) => between(track, speeds, time, linear)) }),
      ...(courses === undefined
        ? {}
        : { courses: times.map((time) => between(track, courses, time, turning)) }),
    },
  }
}

function between(
  { times }: TimedTrack,
  values: readonly (number | null)[],
  time: number,
  blend: (a: number, b: number, share: number) => number,
): number | null {
  const index = fixBefore(times, time)
  const [a, b] = [values[index] ?? null, values[index + 1] ?? null]
  const [from, to] = [times[index] ?? time, times[index + 1] ?? time]
  if (a === null || time === from) return a
  return b === null ? null : blend(a, b, to > from ? (time - from) / (to - from) : 0)
}

const linear = (a: number, b: number, share: number): number => a + (b - a) * share

/** The shorter way round the compass. */
const turning = (a: number, b: number, share: number): number => compass(a + signedAngle(b - a) * share)

/** A place as GeoJSON has it, its longitude normalised. */
export const positionOf = ({ lon, lat }: Place): readonly number[] => [normalLon(lon), lat]
