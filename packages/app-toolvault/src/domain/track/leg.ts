import { metresPerSecondPerKnot, solveInverse } from '../geodesy/geodesic.ts'
import type { TimedTrack } from './track.ts'

export interface Leg {
  readonly index: number
  readonly start_ms: number
  readonly end_ms: number
  readonly distance_m: number
  /** Initial geodesic bearing. */
  readonly course_deg: number
  /** `null` if the leg has no duration. */
  readonly speed_kn: number | null
}

/** Returns the speed in knots, or `null` if the duration is not positive. */
export const computeSpeed = (metres: number, ms: number): number | null =>
  ms > 0 ? metres / (ms / 1000) / metresPerSecondPerKnot : null

/** Omits the gaps between parts. */
export function listLegs({ fixes, breaks }: TimedTrack): Leg[] {
  return fixes.slice(1).flatMap((to, before) => {
    const index = before + 1
    const from = fixes[before] ?? to
    if (breaks.has(index)) return []
    const { distance_m, bearing_deg } = solveInverse(from, to)
    const speed_kn = computeSpeed(distance_m, to.time - from.time)
    return [{ index, start_ms: from.time, end_ms: to.time, distance_m, course_deg: bearing_deg, speed_kn }]
  })
}
