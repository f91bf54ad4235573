/**
 * The closest point of approach that two vessels would have if they kept course and speed:
 * tcpa = -r·v / v·v, dcpa = |r + v·tcpa|, with r the place and v the velocity of b relative to a.
 */
import { knot, type Place, way } from './geodesic.ts'
import type { Motion } from './motion.ts'

/** A vessel at the time of the prediction. */
export interface Vessel extends Motion {
  readonly place: Place
}

/** The prediction. */
export interface Prediction {
  /** seconds from the time of the prediction; negative where it is over, null where the distance does not change */
  readonly tcpa_s: number | null
  /** metres; the distance now where it does not change */
  readonly dcpa_m: number
  readonly range_m: number
  readonly relative_speed_kn: number
}

/** Below this speed a vessel lies still, and what its course says is noise, knots. */
const stillKnots = 0.2

/** Below this relative speed there is no approach, knots. */
const leastRelativeKnots = 0.1

const rad = Math.PI / 180

/** Predicts, in the plane around `a`. */
export function predictedApproach(a: Vessel, b: Vessel): Prediction {
  const { distance_m, bearing_deg, final_bearing_deg } = way(a.place, b.place)
  // North at b is turned against north at a by the convergence of the meridians.
  const convergence = final_bearing_deg - bearing_deg
  const [ax, ay] = velocity(a, 0)
  const [bx, by] = velocity(b, convergence)
  const [vx, vy] = [bx - ax, by - ay]
  const [rx, ry] = [distance_m * Math.sin(bearing_deg * rad), distance_m * Math.cos(bearing_deg * rad)]
  const speed = Math.hypot(vx, vy)
  const relative_speed_kn = speed / knot
  if (relative_speed_kn < leastRelativeKnots)
    return { tcpa_s: null, dcpa_m: distance_m, range_m: distance_m, relative_speed_kn }
  const tcpa_s = -(rx * vx + ry * vy) / (speed * speed)
  return {
    tcpa_s,
    dcpa_m: Math.hypot(rx + vx * tcpa_s, ry + vy * tcpa_s),
    range_m: distance_m,
    relative_speed_kn,
  }
}

function velocity({ course_deg, speed_kn }: Motion, convergence: number): readonly [number, number] {
  if (course_deg === null || speed_kn === null || speed_kn < stillKnots) return [0, 0]
  const course = (course_deg - convergence) * rad
  return [speed_kn * knot * Math.sin(course), speed_kn * knot * Math.cos(course)]
}
