import { formatTime } from '@causeway/app-kit/time'
import { type DebriefCommand, formatCount, showData, showText } from '@causeway/plot'
import { createFeatureError } from '../feature/read-features.ts'
import { knot } from '../geodesy/geodesic.ts'
import { createTable, roundTo } from '../table.ts'
import { listLegs } from './leg.ts'
import type { TimedTrack } from './track.ts'

interface FastFix {
  readonly time: number
  readonly speed_kn: number
}

/** `min` is in knots. `assumed_s` replaces the duration of every leg. */
export function filterByDerivedSpeed(track: TimedTrack, min: number, assumed_s?: number): FastFix[] {
  return listLegs(track).flatMap(({ end_ms, distance_m, speed_kn }) => {
    const speed = assumed_s === undefined ? speed_kn : distance_m / assumed_s / knot
    return speed !== null && speed >= min ? [{ time: end_ms, speed_kn: speed }] : []
  })
}

/** `min` is in knots. Throws `FEATURE_UNUSABLE` if no speed is recorded. */
export function filterByRecordedSpeed({ speeds, fixes, feature }: TimedTrack, min: number): FastFix[] {
  if (speeds === undefined)
    throw createFeatureError(feature, 'has no recorded speeds; track_speed_filter derives them')
  return fixes.flatMap(({ time }, index) => {
    const speed = speeds[index] ?? null
    return speed !== null && speed >= min ? [{ time, speed_kn: speed }] : []
  })
}

interface FilterDescription {
  readonly min: number
  readonly method: 'derived from positions and times' | 'assumed interval' | 'recorded speeds'
}

export function reportFastFixes(
  { name }: TimedTrack,
  fixes: readonly FastFix[],
  { min, method }: FilterDescription,
): DebriefCommand {
  if (fixes.length === 0) return showText(`No fixes of ${name} at or above ${min} knots (speeds: ${method}).`)
  const top = fixes.reduce((best, fix) => (fix.speed_kn > best.speed_kn ? fix : best))
  return showData({
    title: `Fixes of ${name} at or above ${min} knots`,
    summary: `${formatCount(fixes.length, 'fix')} of ${name} at or above ${min} knots, the fastest ${roundTo(top.speed_kn, 2)} knots at ${formatTime(top.time)} (speeds: ${method}).`,
    count: fixes.length,
    min_speed_threshold: min,
    method,
    timestamps: fixes.map(({ time }) => formatTime(time)),
    ...createTable(
      fixes,
      { name: 'time', key: ({ time }) => formatTime(time) },
      { speed_kn: ({ speed_kn }) => roundTo(speed_kn, 3) },
    ),
  })
}
