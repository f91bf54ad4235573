/** Fixes of a track at or above a speed, by derived speeds or by the recorded ones. */

import { formatTime } from '@causeway/app-kit/time'
import { type DebriefCommand, showData, showText } from './command.ts'
import { counted } from './counted.ts'
import { knot } from './geodesic.ts'
import { legsOf } from './leg.ts'
import { rounded, table } from './table.ts'
import { type TimedTrack, unusable } from './track.ts'

/** A fix with the speed that counts for it. */
export interface FastFix {
  readonly time: number
  readonly speed_kn: number
}

/**
 * Fixes at the end of legs whose speed is at least `min` knots. The time of a leg is the one between its fixes, or
 * `assumed` seconds for all legs, as the original tool has it with 60.
 */
export function fastByLegs(track: TimedTrack, min: number, assumed?: number): FastFix[] {
  return legsOf(track).flatMap(({ end_ms, distance_m, speed_kn }) => {
    const speed = assumed === undefined ? speed_kn : distance_m / assumed / knot
    return speed !== null && speed >= min ? [{ time: end_ms, speed_kn: speed }] : []
  })
}

/** Fixes whose recorded speed is at least `min` knots; throws `FEATURE_UNUSABLE` for a track without recorded speeds. */
export function fastByRecord({ speeds, fixes, feature }: TimedTrack, min: number): FastFix[] {
  if (speeds === undefined) throw unusable(feature, 'has no recorded speeds; track_speed_filter derives them')
  return fixes.flatMap(({ time }, index) => {
    const speed = speeds[index] ?? null
    return speed !== null && speed >= min ? [{ time, speed_kn: speed }] : []
  })
}

/** How the speeds were got, for the answer. */
export type SpeedMethod = 'derived from positions and times' | 'assumed interval' | 'recorded speeds'

/** The answer of both tools: the times, with their speeds as a table. */
export function fastFixes(
  { name }: TimedTrack,
  hits: readonly FastFix[],
  { min, method }: { readonly min: number; readonly method: SpeedMethod },
): DebriefCommand {
  if (hits.length === 0) return showText(`No fixes of ${name} at or above ${min} knots (speeds: ${method}).`)
  const top = hits.reduce((best, hit) => (hit.speed_kn > best.speed_kn ? hit : best))
  const data = {
    title: `Fixes of ${name} at or above ${min} knots`,
    summary: `${counted(hits.length, 'fix')} of ${name} at or above ${min} knots, the fastest ${rounded(top.speed_kn, 2)} knots at ${formatTime(top.time)} (speeds: ${method}).`,
    count: hits.length,
    min_speed_threshold: min,
    method,
    timestamps: hits.map(({ time }) => formatTime(time)),
    ...table(
      hits,
      { name: 'time', key: ({ time }) => formatTime(time) },
      { speed_kn: ({ speed_kn }) => rounded(speed_kn, 3) },
    ),
  }
  return showData(data)
}
