import { bodyAt, bodyWidth, hasEnergy, type SystemRow } from '../packed-frame.ts'
import type { RunBody, RunConstants } from './run-line.ts'

const computeKineticEnergy = (mass: number, x: number, y: number, z: number): number =>
  0.5 * mass * (x * x + y * y + z * z)

/** NaN counts as 0, unless both are NaN. */
const addRecorded = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : a + b)

/** The coordinate may be missing along an axis without gravity. */
const computePotentialTerm = (g: number, coordinate = Number.NaN): number => (g === 0 ? 0 : g * coordinate)

/**
 * Writes the energies of the row at `at` in J: m v²/2, ω·Iω/2 in the body frame, -m g·r. Unknown terms are NaN and
 * omitted from the total. `spin` is in the body frame, in rad/s.
 */
export function writeEnergies(
  rows: Float64Array,
  at: number,
  body: RunBody | undefined,
  gravity: RunConstants['gravity'],
  spin: readonly [number, number, number],
): void {
  const e = at + bodyAt.energy
  if (body === undefined || Number.isNaN(body.mass)) {
    rows.fill(Number.NaN, e, e + 4)
    return
  }
  const { mass, inertia } = body
  const v = at + bodyAt.velocity
  const linear = computeKineticEnergy(
    mass,
    rows[v] ?? Number.NaN,
    rows[v + 1] ?? Number.NaN,
    rows[v + 2] ?? Number.NaN,
  )
  const rotational = 0.5 * (inertia[0] * spin[0] ** 2 + inertia[1] * spin[1] ** 2 + inertia[2] * spin[2] ** 2)
  const p = at + bodyAt.position
  const potential =
    gravity === null
      ? Number.NaN
      : -mass *
        (computePotentialTerm(gravity[0], rows[p]) +
          computePotentialTerm(gravity[1], rows[p + 1]) +
          computePotentialTerm(gravity[2], rows[p + 2]))
  rows[e] = linear
  rows[e + 1] = rotational
  rows[e + 2] = potential
  rows[e + 3] = addRecorded(addRecorded(linear, rotational), potential)
  rows[at + bodyAt.parts] = (rows[at + bodyAt.parts] ?? 0) | hasEnergy
}

/** System energy that the engine sent. Values that are missing or NaN are computed. */
export type RecordedSystem = Partial<SystemRow>

/**
 * Replaces missing values with sums over the bodies. `before` is the previous frame's total, NaN for the first frame. A
 * sum without potential energy never marks an injection.
 */
export function computeSystemEnergy(
  rows: Float64Array,
  recorded: RecordedSystem,
  before: number,
  isTouching: boolean,
): SystemRow | null {
  const sumColumn = (column: number): number => {
    let sum = Number.NaN
    for (let at = 0; at < rows.length; at += bodyWidth)
      if ((rows[at + bodyAt.parts] ?? 0) & hasEnergy)
        sum = addRecorded(sum, rows[at + bodyAt.energy + column] ?? Number.NaN)
    return sum
  }
  const getOrCompute = (value: number | undefined, compute: () => number): number =>
    isRecorded(value) ? value : compute()
  const linear = getOrCompute(recorded.linear, () => sumColumn(0))
  const rotational = getOrCompute(recorded.rotational, () => sumColumn(1))
  const potential = getOrCompute(recorded.potential, () => sumColumn(2))
  const total = getOrCompute(recorded.total, () => addRecorded(addRecorded(linear, rotational), potential))
  if (Number.isNaN(total) && Object.keys(recorded).length === 0 && !hasAnyEnergy(rows)) return null
  const delta = getOrCompute(recorded.delta, () => total - (Number.isNaN(before) ? 0 : before))
  const isComplete = isRecorded(recorded.total) || !Number.isNaN(potential)
  const injection = recorded.injection ?? (isComplete && delta > Math.max(1e-6 * Math.abs(total), 1e-9))
  return { linear, rotational, potential, total, delta, injection, active: recorded.active ?? isTouching }
}

const isRecorded = (value: number | undefined): value is number => value !== undefined && !Number.isNaN(value)

function hasAnyEnergy(rows: Float64Array): boolean {
  for (let at = 0; at < rows.length; at += bodyWidth)
    if ((rows[at + bodyAt.parts] ?? 0) & hasEnergy) return true
  return false
}
