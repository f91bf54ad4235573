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
  const nearPoints = points.filter((point) => point.every((value) => Math.abs(value) < maxDistance))
  if (nearPoints.length === 0) return { center: [0, 0, 0], radius: Math.max(1, margin) }
  const axisRanges = [0, 1, 2].map((axis) => {
    const sortedValues = nearPoints.map((point) => point[axis] ?? 0).sort((a, b) => a - b)
    const valueAtFraction = (fraction: number): number =>
      sortedValues[Math.round(fraction * (sortedValues.length - 1))] ?? 0
    return [valueAtFraction(0.02), valueAtFraction(0.98)] as const
  })
  const center = axisRanges.map(([low, high]) => (low + high) / 2) as unknown as Point3
  const radius = Math.hypot(...axisRanges.map(([low, high]) => (high - low) / 2)) + margin
  return { center, radius: Math.max(radius, 1e-3) }
}

/** Returns `undefined` if the scenes are so far apart that neither would be visible. */
export function joinBounds(a: Bounds, b: Bounds): Bounds | undefined {
  const distance = Math.hypot(...a.center.map((value, axis) => value - (b.center[axis] ?? 0)))
  const [outerBounds, innerBounds] = a.radius >= b.radius ? [a, b] : [b, a]
  if (distance + innerBounds.radius <= outerBounds.radius) return outerBounds
  if (distance > maxRelativeDistance * (a.radius + b.radius)) return undefined
  const radius = (distance + a.radius + b.radius) / 2
  const fraction = (radius - a.radius) / distance
  const center = a.center.map((value, axis) => value + fraction * ((b.center[axis] ?? 0) - value))
  return { center: center as unknown as Point3, radius }
}

/** Whether values need a logarithmic axis, because a few are a million times greater than the median. */
export function needsLogAxis(values: readonly (number | null)[]): boolean {
  const magnitudes = values
    .flatMap((value) => (value === null || value === 0 ? [] : [Math.abs(value)]))
    .sort((a, b) => a - b)
  const [medianMagnitude, maxMagnitude] = [magnitudes[Math.floor(magnitudes.length / 2)], magnitudes.at(-1)]
  return medianMagnitude !== undefined && maxMagnitude !== undefined && maxMagnitude > 1e6 * medianMagnitude
}

export const toSymlog = (value: number): number => Math.sign(value) * Math.log10(1 + Math.abs(value))

export const fromSymlog = (value: number): number => Math.sign(value) * (10 ** Math.abs(value) - 1)
