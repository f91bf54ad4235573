/** Legs: from one fix of a track to the next. Speeds come from distances and times, never from what was declared. */
import { knot, way } from './geodesic.ts'
import type { TimedTrack } from './track.ts'

/** A leg; `index` is that of the vertex where it ends. */
export interface Leg {
  readonly index: number
  readonly start_ms: number
  readonly end_ms: number
  readonly distance_m: number
  /** initial geodesic bearing, degrees */
  readonly course_deg: number
  /** null where no time passes */
  readonly speed_kn: number | null
}

/** Knots for a distance in a time; null for no time. */
export const speedOf = (metres: number, ms: number): number | null =>
  ms > 0 ? metres / (ms / 1000) / knot : null

/** The legs in order; none leads from one part of a track to the next. */
export function legsOf({ fixes, breaks }: TimedTrack): Leg[] {
  return fixes.slice(1).flatMap((to, before) => {
    const index = before + 1
    const from = fixes[before] ?? to
    if (breaks.has(index)) return []
    const { distance_m, bearing_deg } = way(from, to)
    const speed_kn = speedOf(distance_m, to.time - from.time)
    return [{ index, start_ms: from.time, end_ms: to.time, distance_m, course_deg: bearing_deg, speed_kn }]
  })
}
