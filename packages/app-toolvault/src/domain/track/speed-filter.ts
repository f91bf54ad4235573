import { formatTime } from '@causeway/app-kit/time'
import { type DebriefCommand, formatCount, showData, showText } from '@causeway/plot'
import { createFeatureError } from '../feature/read-features.ts'
import { metresPerSecondPerKnot } from '../geodesy/geodesic.ts'
import { createTable, roundTo } from '../table.ts'
import { listLegs } from './leg.ts'
import type { TimedTrack } from './track.ts'

interface FastFix {
  readonly time: number
  readonly speed_kn: number
}

/** `minSpeed` is in knots. `assumedSeconds` replaces the duration of every leg. */
export function filterByDerivedSpeed(
  track: TimedTrack,
  minSpeed: number,
  assumedSeconds?: number,
): FastFix[] {
  return listLegs(track).flatMap(({ end_ms, distance_m, speed_kn }) => {
    const speed =
      assumedSeconds === undefined ? speed_kn : distance_m / assumedSeconds / metresPerSecondPerKnot
    return speed !== null && speed >= minSpeed ? [{ time: end_ms, speed_kn: speed }] : []
  })
}

/** `minSpeed` is in knots. Throws `FEATURE_UNUSABLE` if no speed is recorded. */
export function filterByRecordedSpeed({ speeds, fixes, feature }: TimedTrack, minSpeed: number): FastFix[] {
  if (speeds === undefined)
    throw createFeatureError(feature, 'has no recorded speeds; track_speed_filter derives them')
  return fixes.flatMap(({ time }, index) => {
    const speed = speeds[index] ?? null
    return speed !== null && speed >= minSpeed ? [{ time, speed_kn: speed }] : []
  })
}

interface FilterDescription {
  readonly minSpeed: number
  readonly method: 'derived from positions and times' | 'assumed interval' | 'recorded speeds'
}

export function reportFastFixes(
  { name }: TimedTrack,
  fixes: readonly FastFix[],
  { minSpeed, method }: FilterDescription,
): DebriefCommand {
  if (fixes.length === 0)
    return showText(`No fixes of ${name} at or above ${minSpeed} knots (speeds: ${method}).`)
  const fastest = fixes.reduce((best, fix) => (fix.speed_kn > best.speed_kn ? fix : best))
  return showData({
    title: `Fixes of ${name} at or above ${minSpeed} knots`,
    summary: `${formatCount(fixes.length, 'fix')} of ${name} at or above ${minSpeed} knots, the fastest ${roundTo(fastest.speed_kn, 2)} knots at ${formatTime(fastest.time)} (speeds: ${method}).`,
    count: fixes.length,
    min_speed_threshold: minSpeed,
    method,
    timestamps: fixes.map(({ time }) => formatTime(time)),
    ...createTable(
      fixes,
      { name: 'time', key: ({ time }) => formatTime(time) },
      { speed_kn: ({ speed_kn }) => roundTo(speed_kn, 3) },
    ),
  })
}
