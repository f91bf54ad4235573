/** Energies of a frame that an engine did not give: from mass, inertia and gravity of the run. */
import { bodyAt, bodyWidth, hasEnergy, type SystemRow } from './packed-frame.ts'
import type { RunBody, RunConstants } from './run-facts.ts'

const half = (mass: number, x: number, y: number, z: number): number => 0.5 * mass * (x * x + y * y + z * z)

/** The sum of what is known; NaN where nothing is. */
function sumOfKnown(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value))
  return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0)
}

/**
 * Writes the energies of the body's row at `at`, J: m v²/2, ω·Iω/2 in the body frame, -m g·r.
 *
 * A part whose mass, inertia or gravity is not known stays NaN, and the total is the sum of the others. A body without
 * a mass has no energies. `spin` is the angular velocity in the body frame, rad/s.
 */
export function writeEnergies(
  rows: Float64Array,
  at: number,
  body: RunBody | undefined,
  gravity: RunConstants['gravity'],
  spin: readonly [number, number, number],
): void {
  if (body === undefined || Number.isNaN(body.mass)) return
  const value = (offset: number): number => rows[at + offset] ?? Number.NaN
  const { mass, inertia } = body
  const [vx, vy, vz] = [value(bodyAt.velocity), value(bodyAt.velocity + 1), value(bodyAt.velocity + 2)]
  const linear = half(mass, vx, vy, vz)
  const rotational = 0.5 * (inertia[0] * spin[0] ** 2 + inertia[1] * spin[1] ** 2 + inertia[2] * spin[2] ** 2)
  const [gx, gy, gz] = gravity ?? [Number.NaN, Number.NaN, Number.NaN]
  const along = (g: number, offset: number): number => (g === 0 ? 0 : g * value(bodyAt.position + offset))
  const potential = -mass * (along(gx, 0) + along(gy, 1) + along(gz, 2))
  rows.set([linear, rotational, potential, sumOfKnown([linear, rotational, potential])], at + bodyAt.energy)
  rows[at + bodyAt.parts] = (rows[at + bodyAt.parts] ?? 0) | hasEnergy
}

/** What an engine may say itself of the energy of the system; NaN and undefined = compute it. */
export type GivenSystem = Partial<SystemRow>

/**
 * Energy of the system as the sum over the bodies, where it was not given. `before` is the total of the frame before,
 * NaN for the first frame, whose change is its whole energy.
 */
export function systemEnergy(
  rows: Float64Array,
  given: GivenSystem,
  before: number,
  isTouching: boolean,
): SystemRow | null {
  const sumOf = (column: number): number => {
    const values: number[] = []
    for (let at = 0; at < rows.length; at += bodyWidth)
      if ((rows[at + bodyAt.parts] ?? 0) & hasEnergy)
        values.push(rows[at + bodyAt.energy + column] ?? Number.NaN)
    return sumOfKnown(values)
  }
  const known = (value: number | undefined, compute: () => number): number =>
    value === undefined || Number.isNaN(value) ? compute() : value
  const linear = known(given.linear, () => sumOf(0))
  const rotational = known(given.rotational, () => sumOf(1))
  const potential = known(given.potential, () => sumOf(2))
  const total = known(given.total, () => sumOfKnown([linear, rotational, potential]))
  if (Number.isNaN(total) && Object.keys(given).length === 0 && !hasAnyEnergy(rows)) return null
  const delta = known(given.delta, () => total - (Number.isNaN(before) ? 0 : before))
  const injection = given.injection ?? delta > Math.max(1e-6 * Math.abs(total), 1e-9)
  return { linear, rotational, potential, total, delta, injection, active: given.active ?? isTouching }
}

function hasAnyEnergy(rows: Float64Array): boolean {
  for (let at = 0; at < rows.length; at += bodyWidth)
    if ((rows[at + bodyAt.parts] ?? 0) & hasEnergy) return true
  return false
}
