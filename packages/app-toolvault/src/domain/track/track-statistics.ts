import { formatTime } from '@causeway/app-kit/time'
import { metresPerNauticalMile, solveInverse } from '../geodesy/geodesic.ts'
import { computeSpeed, type Leg, listLegs } from './leg.ts'
import { getTimeSpan } from './motion.ts'
import { computeMedianInterval } from './resampling.ts'
import type { TimedTrack } from './track.ts'

export type TrackStatistics = ReturnType<typeof computeStatistics>

/** By default, a pause is a gap if it is longer than this many median intervals. */
const gapFactor = 10

/** Pauses longer than `minGapSeconds` are gaps. Speeds are derived unless their name contains `recorded`. */
export function computeStatistics(track: TimedTrack, minGapSeconds?: number) {
  const legs = listLegs(track)
  const [start, end] = getTimeSpan(track)
  const length_m = legs.reduce((sum, { distance_m }) => sum + distance_m, 0)
  const [first, last] = [track.fixes[0], track.fixes.at(-1)]
  const madeGood = first === undefined || last === undefined ? undefined : solveInverse(first, last)
  const movingLegs = legs.filter(({ speed_kn }) => speed_kn !== null)
  const speeds = movingLegs.map(({ speed_kn }) => speed_kn ?? 0).sort((a, b) => a - b)
  const fastest = movingLegs.reduce<Leg | undefined>(
    (best, leg) => ((leg.speed_kn ?? 0) > (best?.speed_kn ?? -1) ? leg : best),
    undefined,
  )
  const median_interval_s = computeMedianInterval(track)
  const elevations = track.elevations.filter((z) => z !== null)
  return {
    fixes: track.fixes.length,
    start: formatTime(start),
    end: formatTime(end),
    duration_s: (end - start) / 1000,
    length_m,
    length_nm: length_m / metresPerNauticalMile,
    made_good_m: madeGood?.distance_m ?? 0,
    made_good_deg: madeGood !== undefined && madeGood.distance_m > 1 ? madeGood.bearing_deg : null,
    mean_speed_kn: computeMeanSpeed(movingLegs),
    min_speed_kn: speeds[0] ?? null,
    median_speed_kn: findMedian(speeds),
    max_speed_kn: fastest?.speed_kn ?? null,
    max_speed_at: fastest === undefined ? null : formatTime(fastest.end_ms),
    median_interval_s,
    gaps: listGaps(legs, minGapSeconds ?? gapFactor * median_interval_s),
    recorded_median_speed_kn: findMedian(
      (track.speeds ?? []).filter((speed) => speed !== null).sort((a, b) => a - b),
    ),
    min_elevation_m: elevations.length === 0 ? null : elevations.reduce((a, b) => Math.min(a, b)),
    max_elevation_m: elevations.length === 0 ? null : elevations.reduce((a, b) => Math.max(a, b)),
  }
}

/** Omits legs without a duration, so that the mean cannot exceed the maximum. */
function computeMeanSpeed(movingLegs: readonly Leg[]): number | null {
  const metres = movingLegs.reduce((sum, { distance_m }) => sum + distance_m, 0)
  const ms = movingLegs.reduce((sum, { start_ms, end_ms }) => sum + end_ms - start_ms, 0)
  return computeSpeed(metres, ms)
}

const listGaps = (legs: readonly Leg[], minGapSeconds: number) =>
  legs
    .filter(({ start_ms, end_ms }) => (end_ms - start_ms) / 1000 > minGapSeconds)
    .map(({ start_ms, end_ms, distance_m }) => ({
      start: formatTime(start_ms),
      end: formatTime(end_ms),
      duration_s: (end_ms - start_ms) / 1000,
      distance_m,
    }))

function findMedian(sorted: readonly number[]): number | null {
  const middle = sorted.length >> 1
  const [low, high] = [sorted[middle - 1], sorted[middle]]
  if (high === undefined) return null
  return sorted.length % 2 === 1 || low === undefined ? high : (low + high) / 2
}
