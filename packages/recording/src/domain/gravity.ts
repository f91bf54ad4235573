import type { Vector } from '../types.ts'
import { median } from './median.ts'
import type { Triple } from './momentum.ts'

/** Distance from the median, m/s², within which a sample agrees with it. */
const agreement = 0.01

/** Part of the samples that must agree with the median for it to be called gravity. */
const quorum = 0.5

/** Gravity, m/s², from accelerations in frames without contact, or null where they do not agree with each other. */
export function gravityFromFlight(accelerations: readonly Triple[]): Vector | null {
  const [x, y, z] = ([0, 1, 2] as const).map((axis) => median(accelerations.map((a) => a[axis])))
  if (x == null || y == null || z == null) return null
  const agreeing = accelerations.filter((a) => Math.hypot(a[0] - x, a[1] - y, a[2] - z) <= agreement)
  return agreeing.length > quorum * accelerations.length ? { x, y, z } : null
}

/** What the potential energy of one body in one frame says: mass in kg, height in m, energy in J. */
export interface PotentialSample {
  readonly mass: number
  readonly height: number
  readonly potential: number
}

/** Gravity along z, m/s², from potential_e = -m g z, or null where the samples do not agree with each other. */
export function gravityFromPotential(samples: readonly PotentialSample[]): Vector | null {
  const values = samples
    .filter(({ mass, height }) => Math.abs(mass * height) > 1e-9)
    .map(({ mass, height, potential }) => -potential / (mass * height))
  const z = median(values)
  if (z === null) return null
  const agreeing = values.filter((value) => Math.abs(value - z) <= agreement)
  return agreeing.length > quorum * values.length ? { x: 0, y: 0, z } : null
}
