import { type LatLon, metresPerSecondPerKnot, solveInverse } from '../geodesy/geodesic.ts'
import type { Motion } from '../track/motion.ts'

export interface Vessel extends Motion {
  readonly position: LatLon
}

export interface Prediction {
  /** Negative if the closest approach has passed, `null` if the distance is constant. */
  readonly tcpa_s: number | null
  /** Equal to `range_m` if the distance is constant. */
  readonly dcpa_m: number
  readonly range_m: number
  readonly relative_speed_kn: number
}

/** Speed in knots below which a vessel counts as stationary. */
const minSpeedKn = 0.2

/** Relative speed in knots below which the distance counts as constant. */
const minRelativeSpeedKn = 0.1

const radiansPerDegree = Math.PI / 180

/**
 * Predicts the closest point of approach at constant course and speed, in the plane around `a`: tcpa = -r·v / v·v and
 * dcpa = |r + v·tcpa|, where r is the position and v the velocity of b relative to a.
 */
export function predictApproach(a: Vessel, b: Vessel): Prediction {
  const { distance_m, bearing_deg, final_bearing_deg } = solveInverse(a.position, b.position)
  // The angle between the directions of north at a and b.
  const convergence = final_bearing_deg - bearing_deg
  const [ax, ay] = toVelocity(a, 0)
  const [bx, by] = toVelocity(b, convergence)
  const [vx, vy] = [bx - ax, by - ay]
  const [rx, ry] = [
    distance_m * Math.sin(bearing_deg * radiansPerDegree),
    distance_m * Math.cos(bearing_deg * radiansPerDegree),
  ]
  const speed = Math.hypot(vx, vy)
  const relative_speed_kn = speed / metresPerSecondPerKnot
  if (relative_speed_kn < minRelativeSpeedKn)
    return { tcpa_s: null, dcpa_m: distance_m, range_m: distance_m, relative_speed_kn }
  const tcpa_s = -(rx * vx + ry * vy) / (speed * speed)
  return {
    tcpa_s,
    dcpa_m: Math.hypot(rx + vx * tcpa_s, ry + vy * tcpa_s),
    range_m: distance_m,
    relative_speed_kn,
  }
}

function toVelocity({ course_deg, speed_kn }: Motion, convergence: number): readonly [number, number] {
  if (course_deg === null || speed_kn === null || speed_kn < minSpeedKn) return [0, 0]
  const course = (course_deg - convergence) * radiansPerDegree
  return [
    speed_kn * metresPerSecondPerKnot * Math.sin(course),
    speed_kn * metresPerSecondPerKnot * Math.cos(course),
  ]
}
