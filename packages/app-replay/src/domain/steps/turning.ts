import { stateAt } from '@causeway/recording'
import { toSolid } from '../shapes/solid.ts'
import { cross, type Point3 } from '../vector.ts'
import { getOffset, getOffsetBefore, length3, num, read3, readWorldSpin } from './block.ts'
import type { Scene } from './scene.ts'
import type { Step } from './step.ts'
import type { Touch } from './touch.ts'

/** Returns the rotation in rad in the body frame; `null` if a quaternion is not a rotation. */
export function readTurn(s: Float64Array, from: number, to: number): Point3 | null {
  const [aw, ax, ay, az] = [num(s, from), -num(s, from + 1), -num(s, from + 2), -num(s, from + 3)]
  const [bw, bx, by, bz] = [num(s, to), num(s, to + 1), num(s, to + 2), num(s, to + 3)]
  const sizes = (aw * aw + ax * ax + ay * ay + az * az) * (bw * bw + bx * bx + by * by + bz * bz)
  if (!(Math.abs(sizes - 1) < 0.01)) return null
  const w = aw * bw - ax * bx - ay * by - az * bz
  const x = aw * bx + ax * bw + ay * bz - az * by
  const y = aw * by - ax * bz + ay * bw + az * bx
  const z = aw * bz + ax * by - ay * bx + az * bw
  const size = length3(x, y, z)
  if (size === 0) return [0, 0, 0]
  const angle = (2 * Math.atan2(size, Math.abs(w)) * Math.sign(w || 1)) / size
  return [x * angle, y * angle, z * angle]
}

/**
 * Returns the larger speed of both bodies due to rotation at the contact in m/s; NaN if unknown. Without angular
 * velocities, uses the step's rotation; without contact points, the body's size.
 */
export function measureTurning(step: Step, { columnA, columnB, leverA, leverB, leverRows }: Touch): number {
  const turn = (column: number, lever: Point3): number => {
    if (column < 0) return 0
    const rate = readTurnRate(step, column)
    if (rate === 0) return 0
    const arm = leverRows === 0 ? Number.NaN : length3(...lever)
    return rate * (Number.isNaN(arm) ? getReach(step.scene, column) : arm)
  }
  const [a, b] = [turn(columnA, leverA), turn(columnB, leverB)]
  return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : Math.max(a, b)
}

/** m/s */
const minRockingSpeed = 0.02

/** Whether the body may rock: its corners touch in turns, faster than 2 cm/s and g dt. */
export const mayRock = (step: Step, touch: Touch): boolean =>
  !(measureTurning(step, touch) <= Math.max(minRockingSpeed, step.scene.g * step.dt || 0))

/** Returns the rate in rad/s; if not recorded, that of the step's rotation. */
export function readTurnRate(step: Step, column: number): number {
  const s = step.window.states.data
  const [at, was] = [getOffset(step, column), getOffsetBefore(step, column)]
  const rate = length3(...read3(s, at + stateAt.spin))
  if (!Number.isNaN(rate)) return rate
  const turn = readTurn(s, was + stateAt.orientation, at + stateAt.orientation)
  return turn === null ? Number.NaN : length3(...turn) / step.dt
}

/** Returns the bounding radius in m; NaN if unknown. */
function getReach({ geometry, bodies, extents }: Scene, column: number): number {
  const bodyGeometry = geometry.get(bodies[column] ?? Number.NaN)
  const solid = bodyGeometry === undefined ? undefined : toSolid(bodyGeometry)
  if (solid !== undefined) return solid.bound
  const half = extents[column]
  return half === undefined ? Number.NaN : length3(...half)
}

/** Maximum sine of the angle between a lever arm and a parallel normal. */
const parallelSine = 1e-3

/** Returns the speed in m/s along the normal due to rotation; 0 for parallel or unknown levers. */
export function measureTurningAlong(
  step: Step,
  { normal, columnA, columnB, leverA, leverB, leverRows }: Touch,
  row: number,
): number {
  const measureAlong = (column: number, lever: Point3): number => {
    if (column < 0 || leverRows === 0) return 0
    const arm = cross(lever, normal)
    if (length3(...arm) <= parallelSine * length3(...lever)) return 0
    const at = (row * step.scene.bodies.length + column) * stateAt.width
    const spin = readWorldSpin(step.window.states.data, at)
    return Math.abs(spin[0] * arm[0] + spin[1] * arm[1] + spin[2] * arm[2])
  }
  return measureAlong(columnA, leverA) + measureAlong(columnB, leverB)
}
