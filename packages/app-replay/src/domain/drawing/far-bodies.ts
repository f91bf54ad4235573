import type { Point3 } from '../vector.ts'

interface Placed {
  readonly at: Point3
  /** Largest extent, m. */
  readonly size: number
}

/** Factor of the size of a scene beyond which bodies are left out: the others would be points. */
const maxDistance = 300

/** Size of a scene whose bodies have no size and lie in one place, m. */
const minSize = 0.1

/**
 * Returns the bodies of an exploded scene that fit into one picture: those near the body with the smallest
 * sum of distances, or of two bodies the one nearer to the origin.
 */
export function selectNear<Body extends Placed>(bodies: readonly Body[]): Body[] {
  const [center] = bodies
    .map((body) => ({ body, sum: sumDistances(body, bodies), norm: Math.hypot(...body.at) }))
    .sort((a, b) => a.sum - b.sum || a.norm - b.norm)
  if (center === undefined) return []
  const distances = bodies.map((body) => measureDistance(body, center.body)).sort((a, b) => a - b)
  const median = distances[Math.floor((distances.length - 1) / 2)] ?? 0
  const size = Math.max(...bodies.map((body) => body.size), minSize)
  return bodies.filter((body) => measureDistance(body, center.body) <= maxDistance * (median + size))
}

const measureDistance = (a: Placed, b: Placed): number =>
  Math.hypot(a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2])

const sumDistances = (body: Placed, bodies: readonly Placed[]): number =>
  bodies.reduce((sum, other) => sum + measureDistance(body, other), 0)
