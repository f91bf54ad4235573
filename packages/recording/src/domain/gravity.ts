import type { Vector } from '../types.ts'
import type { Triple } from './lambda-unit.ts'
import { median } from './median.ts'

/** Maximum distance of an acceleration from the median, in m/s². */
const maxDeviation = 0.01

const minAgreeingShare = 0.5

/** Returns gravity in m/s²; null if the accelerations disagree. */
export function inferGravityFromFlight(accelerations: readonly Triple[]): Vector | null {
  const [x, y, z] = ([0, 1, 2] as const).map((axis) => median(accelerations.map((a) => a[axis])))
  if (x == null || y == null || z == null) return null
  const agreeingSteps = accelerations.filter((a) => Math.hypot(a[0] - x, a[1] - y, a[2] - z) <= maxDeviation)
  return agreeingSteps.length > minAgreeingShare * accelerations.length ? { x, y, z } : null
}

/** Mass in kg, height in m, energy in J. */
export interface PotentialSample {
  readonly mass: number
  readonly height: number
  readonly potential: number
}

/** Returns gravity along z in m/s² from potential_e = -m g z; null if the samples disagree. */
export function inferGravityFromPotential(samples: readonly PotentialSample[]): Vector | null {
  const values = samples
    .filter(({ mass, height }) => Math.abs(mass * height) > 1e-9)
    .map(({ mass, height, potential }) => -potential / (mass * height))
  const z = median(values)
  if (z === null) return null
  const agreeingValues = values.filter((value) => Math.abs(value - z) <= maxDeviation)
  return agreeingValues.length > minAgreeingShare * values.length ? { x: 0, y: 0, z } : null
}
