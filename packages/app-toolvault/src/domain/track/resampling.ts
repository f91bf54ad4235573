import { formatTime } from '@causeway/app-kit/time'
import { type Feature, normalizeLongitude } from '@causeway/plot'
import { ToolVaultError } from '../../errors.ts'
import { type LatLon, normalizeAngle, normalizeBearing } from '../geodesy/geodesic.ts'
import { findFixBefore, getTimeSpan, interpolatePosition } from './motion.ts'
import type { TimedTrack } from './track.ts'

export const maxFixes = 1_000_000

interface ResampleOptions {
  readonly interval_s: number
  readonly max_gap_s: number
}

/** Returns the median interval between fixes in seconds. */
export function computeMedianInterval({ times }: TimedTrack): number {
  const intervals = times
    .slice(1)
    .map((time, index) => (time - (times[index] ?? 0)) / 1000)
    .sort((a, b) => a - b)
  return intervals[intervals.length >> 1] ?? 0
}

/** Returns a track with a fix every `interval_s`, at the edges of gaps and at the end. Throws `IMPORT_TOO_LARGE`. */
export function resampleTrack(track: TimedTrack, { interval_s, max_gap_s }: ResampleOptions) {
  const [start, end] = getTimeSpan(track)
  const stepMs = interval_s * 1000
  const count = Math.floor((end - start) / stepMs) + 2
  if (count > maxFixes)
    throw new ToolVaultError('IMPORT_TOO_LARGE', `${track.name} would have ${count} fixes`, {
      remedy: 'pass a longer interval_s',
      data: { fixes: count, most: maxFixes },
    })
  const isGap = (time: number): boolean => {
    const index = findFixBefore(track.times, time)
    const [from, to] = [track.times[index] ?? time, track.times[index + 1] ?? time]
    return time !== from && (track.breaks.has(index + 1) || to - from > max_gap_s * 1000)
  }
  const regularTimes = Array.from({ length: count - 1 }, (_, index) => start + index * stepMs)
  const gapEdges = listGapEdges(track, max_gap_s)
  const times = [...new Set([...regularTimes.filter((time) => !isGap(time)), ...gapEdges, end])].sort(
    (a, b) => a - b,
  )
  return {
    feature: sampleTrack(track, times),
    fixes: times.length,
    gaps: gapEdges.length / 2,
  }
}

function listGapEdges({ times, breaks }: TimedTrack, maxSeconds: number): number[] {
  return times.flatMap((time, index) => {
    const next = times[index + 1]
    if (next === undefined) return []
    return breaks.has(index + 1) || next - time > maxSeconds * 1000 ? [time, next] : []
  })
}

/** Resamples times, speeds and courses. Omits all other lists with one value per vertex. */
function sampleTrack(track: TimedTrack, times: readonly number[]): Feature {
  const { feature, speeds, courses, fixes } = track
  const otherProperties = Object.entries(feature.properties).filter(
    ([name, value]) =>
      !['timestamps', 'speeds', 'courses'].includes(name) &&
      !(Array.isArray(value) && value.length === fixes.length),
  )
  const positions = times
    .map((time) => interpolatePosition(track, time))
    .filter((position) => position !== undefined)
  return {
    ...feature,
    geometry: {
      type: 'LineString',
      coordinates: positions.map(({ lon, lat }) => [normalizeLongitude(lon), lat]),
    },
    properties: {
      ...Object.fromEntries(otherProperties),
      timestamps: times.map(formatTime),
      ...(speeds === undefined
        ? {}
        : { speeds: times.map((time) => interpolateValue(track, speeds, time, interpolateLinearly)) }),
      ...(courses === undefined
        ? {}
        : { courses: times.map((time) => interpolateValue(track, courses, time, interpolateAngle)) }),
    },
  }
}

function interpolateValue(
  { times }: TimedTrack,
  values: readonly (number | null)[],
  time: number,
  interpolate: (a: number, b: number, fraction: number) => number,
): number | null {
  const index = findFixBefore(times, time)
  const [a, b] = [values[index] ?? null, values[index + 1] ?? null]
  const [from, to] = [times[index] ?? time, times[index + 1] ?? time]
  if (a === null || time === from) return a
  return b === null ? null : interpolate(a, b, to > from ? (time - from) / (to - from) : 0)
}

const interpolateLinearly = (a: number, b: number, fraction: number): number => a + (b - a) * fraction

const interpolateAngle = (a: number, b: number, fraction: number): number =>
  normalizeBearing(a + normalizeAngle(b - a) * fraction)

export const toCoordinates = ({ lon, lat }: LatLon): readonly number[] => [normalizeLongitude(lon), lat]
