export type Point3 = readonly [number, number, number]

export interface Bounds {
  readonly center: Point3
  readonly radius: number
}

/** Scenes that are further apart, in multiples of the sum of their radii, are shown separately. */
const maxRelativeDistance = 8

/** Points with a coordinate of at least this size do not affect the camera, in m. */
const maxDistance = 1e4

/** Returns bounds from the 2nd to the 98th percentile, so that a few lost bodies do not make the others invisible. */
export function fitPoints(points: readonly Point3[], margin: number): Bounds {
  const near = points.filter((point) => point.every((value) => Math.abs(value) < maxDistance))
  if (near.length === 0) return { center: [0, 0, 0], radius: Math.max(1, margin) }
  const spans = [0, 1, 2].map((axis) => {
    const sorted = near.map((point) => point[axis] ?? 0).sort((a, b) => a - b)
    const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? 0
    return [at(0.02), at(0.98)] as const
  })
  const center = spans.map(([low, high]) => (low + high) / 2) as unknown as Point3
  const radius = Math.hypot(...spans.map(([low, high]) => (high - low) / 2)) + margin
  return { center, radius: Math.max(radius, 1e-3) }
}

/** Returns `undefined` if the scenes are so far apart that neither would be visible. */
export function joinBounds(a: Bounds, b: Bounds): Bounds | undefined {
  const distance = Math.hypot(...a.center.map((value, axis) => value - (b.center[axis] ?? 0)))
  const [outer, inner] = a.radius >= b.radius ? [a, b] : [b, a]
  if (distance + inner.radius <= outer.radius) return outer
  if (distance > maxRelativeDistance * (a.radius + b.radius)) return undefined
  const radius = (distance + a.radius + b.radius) / 2
  const share = (radius - a.radius) / distance
  const center = a.center.map((value, axis) => value + share * ((b.center[axis] ?? 0) - value))
  return { center: center as unknown as Point3, radius }
}

/** Whether values need a logarithmic axis, because a few are a million times greater than the median. */
export function needsLogAxis(values: readonly (number | null)[]): boolean {
  const sizes = values
    .flatMap((value) => (value === null || value === 0 ? [] : [Math.abs(value)]))
    .sort((a, b) => a - b)
  const [median, largest] = [sizes[Math.floor(sizes.length / 2)], sizes.at(-1)]
  return median !== undefined && largest !== undefined && largest > 1e6 * median
}

export const toSymlog = (value: number): number => Math.sign(value) * Math.log10(1 + Math.abs(value))

export const fromSymlog = (value: number): number => Math.sign(value) * (10 ** Math.abs(value) - 1)
