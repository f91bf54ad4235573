/** How one thing bears from another: range, bearings, and the angles that a bridge watch uses. */
import { compass, nauticalMile, type Place, signedAngle, way } from './geodesic.ts'
import type { Motion } from './motion.ts'
import { rhumbWay } from './rhumb.ts'

/** Metres in each unit of range. */
export const rangeUnits = { m: 1, km: 1000, nm: nauticalMile, yd: 0.9144 } as const

/** A unit of range. */
export type RangeUnit = keyof typeof rangeUnits

/** Something at a time. */
export interface Sighted extends Motion {
  readonly place: Place
}

/** How b bears from a. */
export interface Bearing {
  readonly range_m: number
  /** at a, towards b */
  readonly bearing_deg: number
  /** at b, towards a */
  readonly reciprocal_deg: number
  /** (bearing of b from a - course of a) from 0 to 360; null where a has no course */
  readonly relative_bearing_deg: number | null
  /** angle on the bow: (bearing of a from b - course of b) from -180 to 180, port negative; null where b has no course */
  readonly atb_deg: number | null
}

/** Along the geodesic or along the rhumb line. */
export function bearingOf(a: Sighted, b: Sighted, line: 'geodesic' | 'rhumb'): Bearing {
  const { distance_m, bearing_deg, final_bearing_deg } =
    line === 'rhumb' ? rhumbWay(a.place, b.place) : way(a.place, b.place)
  const reciprocal_deg = compass(final_bearing_deg + 180)
  return {
    range_m: distance_m,
    bearing_deg,
    reciprocal_deg,
    relative_bearing_deg: a.course_deg === null ? null : compass(bearing_deg - a.course_deg),
    atb_deg: b.course_deg === null ? null : signedAngle(reciprocal_deg - b.course_deg),
  }
}
