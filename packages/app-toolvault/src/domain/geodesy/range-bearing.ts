import type { Motion } from '../track/motion.ts'
import {
  findBearingProblem,
  type GeodesicPath,
  type LatLon,
  metresPerNauticalMile,
  normalizeAngle,
  normalizeBearing,
  solveInverse,
} from './geodesic.ts'
import { solveRhumb } from './rhumb.ts'

/** Length of each unit in metres. */
export const rangeUnits = { m: 1, km: 1000, nm: metresPerNauticalMile, yd: 0.9144 } as const

export type RangeUnit = keyof typeof rangeUnits

export interface Sighting extends Motion {
  readonly position: LatLon
}

export interface Bearing {
  readonly range_m: number
  /** `null` if the positions are equal or connected by several shortest paths. */
  readonly bearing_deg: number | null
  /** Bearing of a from b. */
  readonly reciprocal_deg: number | null
  readonly bearing_problem?: string
  /** Bearing of b from a minus course of a, 0 to 360, or `null` if either is missing. */
  readonly relative_bearing_deg: number | null
  /** Bearing of a from b minus course of b, -180 to 180, negative to port, or `null` if either is missing. */
  readonly atb_deg: number | null
}

export function computeBearing(a: Sighting, b: Sighting, line: 'geodesic' | 'rhumb'): Bearing {
  const path = line === 'rhumb' ? solveRhumb(a.position, b.position) : solveInverse(a.position, b.position)
  const range_m = path.distance_m
  const bearing_problem =
    line === 'rhumb'
      ? findRhumbProblem(a.position, b.position, path)
      : findBearingProblem(a.position, b.position, path)
  if (bearing_problem !== undefined)
    return {
      range_m,
      bearing_deg: null,
      reciprocal_deg: null,
      bearing_problem,
      relative_bearing_deg: null,
      atb_deg: null,
    }
  const { bearing_deg } = path
  const reciprocal_deg = normalizeBearing(path.final_bearing_deg + 180)
  return {
    range_m,
    bearing_deg,
    reciprocal_deg,
    relative_bearing_deg: a.course_deg === null ? null : normalizeBearing(bearing_deg - a.course_deg),
    atb_deg: b.course_deg === null ? null : normalizeAngle(reciprocal_deg - b.course_deg),
  }
}

function findRhumbProblem(a: LatLon, b: LatLon, { distance_m }: GeodesicPath): string | undefined {
  if (distance_m < 1e-6) return 'the places are the same'
  const isOpposite = 180 - Math.abs(normalizeAngle(b.lon - a.lon)) < 1e-9
  const isPolar = Math.max(Math.abs(a.lat), Math.abs(b.lat)) > 90 - 1e-9
  return isOpposite && !isPolar ? 'the meridians are opposite: east and west are equally short' : undefined
}
