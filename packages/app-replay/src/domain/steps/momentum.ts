import { type BodyId, stateAt } from '@causeway/recording'
import { add, type Point3 } from '../vector.ts'
import { getOffset, getOffsetBefore, length3, num, read3, readVelocityAt } from './block.ts'
import { getJointTolerance } from './joint-forces.ts'
import { getImpulseFactor } from './scene.ts'
import type { Step } from './step.ts'
import type { Touch } from './touch.ts'

/**
 * Returns m dv - m g dt - F dt minus the impulses of joints in N·s; NaN if a part is unknown, and for sleeping
 * bodies.
 */
export function readContactImpulse(step: Step, column: number): Point3 {
  const { scene, window, dt, external, joints } = step
  if (joints.isKnown[column] === 0 || step.asleep[column] === 1) return [Number.NaN, Number.NaN, Number.NaN]
  const s = window.states.data
  const [at, was] = [
    getOffset(step, column) + stateAt.velocity,
    getOffsetBefore(step, column) + stateAt.velocity,
  ]
  const mass = num(scene.masses, column)
  const part = (i: 0 | 1 | 2): number =>
    mass * (num(s, at + i) - num(s, was + i) - scene.gravity[i] * dt) -
    num(external, 3 * column + i) * dt -
    num(joints.impulse, 3 * column + i)
  return [part(0), part(1), part(2)]
}

/** Returns a tolerance in N·s relative to the largest term. */
export function getImpulseTolerance(step: Step, column: number, share: number): number {
  const { scene, window, dt } = step
  const s = window.states.data
  const [at, was] = [
    getOffset(step, column) + stateAt.velocity,
    getOffsetBefore(step, column) + stateAt.velocity,
  ]
  const mass = num(scene.masses, column)
  const speed = Math.max(length3(...read3(s, at)), length3(...read3(s, was)))
  const change = length3(
    num(s, at) - num(s, was),
    num(s, at + 1) - num(s, was + 1),
    num(s, at + 2) - num(s, was + 2),
  )
  const rounding = mass * (2e-6 * speed + num(step.errors.velocityChange, column))
  const bodyTolerance = 1e-6 + share * mass * Math.max(change, scene.g * dt) + rounding
  return bodyTolerance + getJointTolerance(step, column, share)
}

/** Returns the velocity in m/s, derived from the previous motion if not recorded. */
export function readVelocityBefore(step: Step, column: number): Point3 {
  const { window, previousDisplacement, dt } = step
  const recorded = read3(window.states.data, getOffsetBefore(step, column) + stateAt.velocity)
  if (!Number.isNaN(recorded[0])) return recorded
  const [x, y, z] = read3(previousDisplacement, 3 * column)
  return [x / dt, y / dt, z / dt]
}

/** Returns the velocity in m/s; 0 for the environment. `lever` starts at the centre. */
function readPointVelocity(step: Step, row: number, column: number, lever: Point3): Point3 {
  if (column < 0) return [0, 0, 0]
  const at = (row * step.scene.bodies.length + column) * stateAt.width
  return readVelocityAt(step.window.states.data, at, lever)
}

/** Returns the rounding error in m/s. */
export function getSlipError({ errors }: Step, { columnA, columnB, leverA, leverB }: Touch): number {
  const measure = (column: number, lever: Point3): number =>
    column < 0
      ? 0
      : num(errors.velocityChange, column) + num(errors.spinChange, column) * (length3(...lever) || 0)
  return measure(columnA, leverA) + measure(columnB, leverB)
}

/** Returns the rounding error of a pair's impulse, in the recorded unit. */
export function getTouchError({ errors, scene, dt }: Step, { columnA, columnB }: Touch): number {
  if (scene.rounding.isExact) return 0
  const sums = [columnA, columnB].map((column) => (column < 0 ? 0 : num(errors.impulse, column)))
  return Math.max(...sums) / getImpulseFactor(scene, dt) || 0
}

/** Returns the speed in m/s of the slowest slip that is judged. */
export const getMinSlip = (step: Step, touch: Touch): number =>
  Math.max(0.02, 2 * step.scene.g * step.dt || 0) + getSlipError(step, touch)

/** Returns the surface velocity of `a` relative to `b` in m/s. */
export function readSlip(
  step: Step,
  row: number,
  { a: bodyA, b: bodyB, columnA, columnB, leverA, leverB, normal }: Touch,
): Point3 {
  const read = (body: BodyId, column: number, lever: Point3): Point3 => {
    const velocity = readPointVelocity(step, row, column, lever)
    const surface = step.scene.surfaceVelocities.get(body)
    return surface === undefined ? velocity : add(velocity, surface, 1)
  }
  const [a, b] = [read(bodyA, columnA, leverA), read(bodyB, columnB, leverB)]
  const v = [a[0] - b[0], a[1] - b[1], a[2] - b[2]] as const
  const along = v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2]
  return [v[0] - along * normal[0], v[1] - along * normal[1], v[2] - along * normal[2]]
}
