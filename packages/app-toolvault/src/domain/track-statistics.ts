/** Length, duration, speeds and gaps of a track. */

import { formatTime } from '@causeway/app-kit/time'
import { nauticalMile, way } from './geodesic.ts'
import { type Leg, legsOf, speedOf } from './leg.ts'
import { timeSpan } from './motion.ts'
import { medianInterval } from './resampling.ts'
import type { TimedTrack } from './track.ts'

/** A time without fixes. */
export interface Gap {
  readonly start: string
  readonly end: string
  readonly duration_s: number
  readonly distance_m: number
}

/** The figures. Speeds in knots, derived; recorded ones stand apart. */
export interface TrackStatistics {
  readonly fixes: number
  readonly start: string
  readonly end: string
  readonly duration_s: number
  readonly length_m: number
  readonly length_nm: number
  /** from the first to the last fix, straight */
  readonly made_good_m: number
  readonly made_good_deg: number | null
  /** length over duration */
  readonly mean_speed_kn: number | null
  readonly min_speed_kn: number | null
  readonly median_speed_kn: number | null
  readonly max_speed_kn: number | null
  readonly max_speed_at: string | null
  readonly median_interval_s: number
  readonly gaps: readonly Gap[]
  /** of properties.speeds, never mixed with the derived ones */
  readonly recorded_median_speed_kn: number | null
  readonly min_elevation_m: number | null
  readonly max_elevation_m: number | null
}

/** A pause this many times the usual one is a gap, if no bound is given. */
const gapFactor = 10

/** Figures of a track; a pause longer than `gap_s` is a gap, by default ten times the median interval. */
export function statisticsOf(track: TimedTrack, gap_s?: number): TrackStatistics {
  const legs = legsOf(track)
  const [start, end] = timeSpan(track)
  const length_m = legs.reduce((sum, { distance_m }) => sum + distance_m, 0)
  const [first, last] = [track.fixes[0], track.fixes.at(-1)]
  const madeGood = first === undefined || last === undefined ? undefined : way(first, last)
  const moving = legs.filter(({ speed_kn }) => speed_kn !== null)
  const speeds = moving.map(({ speed_kn }) => speed_kn ?? 0).sort((a, b) => a - b)
  const fastest = moving.reduce<Leg | undefined>(
    (best, leg) => ((leg.speed_kn ?? 0) > (best?.speed_kn ?? -1) ? leg : best),
    undefined,
  )
  const median_interval_s = medianInterval(track)
  const elevations = track.elevations.filter((z) => z !== null)
  return {
    fixes: track.fixes.length,
    start: formatTime(start),
    end: formatTime(end),
    duration_s: (end - start) / 1000,
    length_m,
    length_nm: length_m / nauticalMile,
    made_good_m: madeGood?.distance_m ?? 0,
    made_good_deg: madeGood !== undefined && madeGood.distance_m > 1 ? madeGood.bearing_deg : null,
    mean_speed_kn: speedOf(length_m, end - start),
    min_speed_kn: speeds[0] ?? null,
    median_speed_kn: middle(speeds),
    max_speed_kn: fastest?.speed_kn ?? null,
    max_speed_at: fastest === undefined ? null : formatTime(fastest.end_ms),
    median_interval_s,
    gaps: gapsOf(legs, gap_s ?? gapFactor * median_interval_s),
    recorded_median_speed_kn: middle(
      (track.speeds ?? []).filter((speed) => speed !== null).sort((a, b) => a - b),
    ),
    min_elevation_m: elevations.length === 0 ? null : elevations.reduce((a, b) => Math.min(a, b)),
    max_elevation_m: elevations.length === 0 ? null : elevations.reduce((a, b) => Math.max(a, b)),
  }
}

const gapsOf = (legs: readonly Leg[], most_s: number): Gap[] =>
  legs
    .filter(({ start_ms, end_ms }) => (end_ms - start_ms) / 1000 > most_s)
    .map(({ start_ms, end_ms, distance_m }) => ({
      start: formatTime(start_ms),
      end: formatTime(end_ms),
      duration_s: (end_ms - start_ms) / 1000,
      distance_m,
    }))

/** The middle value of a sorted list. */
function middle(sorted: readonly number[]): number | null {
  const half = sorted.length >> 1
  const [low, high] = [sorted[half - 1], sorted[half]]
  if (high === undefined) return null
  return sorted.length % 2 === 1 || low === undefined ? high : (low + high) / 2
}
