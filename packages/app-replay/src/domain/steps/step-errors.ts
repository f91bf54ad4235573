/** Largest errors of a step due to the rounding of its numbers (docs/laws.md, Rounding). */
import { type FrameWindow, frictionAt, jointAt, stateAt } from '@causeway/recording'
import { getOffset, getOffsetBefore, length3, num, read3 } from './block.ts'
import { type Grid, getError } from './rounding.ts'
import { getImpulseFactor, type Scene } from './scene.ts'

/** Shape [bodies]. */
export interface StepErrors {
  /** In m. */
  readonly displacement: Float64Array
  /** Errors of the velocity change, m/s. */
  readonly velocityChange: Float64Array
  /** Rotation errors, rad. */
  readonly rotation: Float64Array
  /** Errors of the spin change, rad/s. */
  readonly spinChange: Float64Array
  /** Errors of contact and joint sums, N·s and N·m·s. */
  readonly impulse: Float64Array
  readonly torque: Float64Array
}

interface RoundedStep {
  readonly scene: Scene
  readonly window: FrameWindow
  readonly row: number
  readonly dt: number
  readonly errors: StepErrors
}

export const createStepErrors = (count: number): StepErrors => ({
  displacement: new Float64Array(count),
  velocityChange: new Float64Array(count),
  rotation: new Float64Array(count),
  spinChange: new Float64Array(count),
  impulse: new Float64Array(count),
  torque: new Float64Array(count),
})

/** Factor for three components that all have the largest error. */
const diagonalFactor = Math.sqrt(3)

export function measureErrors(step: RoundedStep): void {
  const { scene, row, errors, window } = step
  const { rounding } = scene
  if (rounding.isExact) return
  const s = window.states.data
  for (let column = 0; row > 0 && column < scene.bodies.length; column++) {
    const [at, was] = [getOffset(step, column), getOffsetBefore(step, column)]
    const measure = (grid: Grid, part: number, width: number): number => {
      if (grid.relative === 0) return 2 * getError(grid, 0)
      let size = 0
      for (let i = part; i < part + width; i++)
        size = Math.max(size, Math.abs(num(s, at + i)) || 0, Math.abs(num(s, was + i)) || 0)
      return 2 * getError(grid, size)
    }
    errors.displacement[column] = diagonalFactor * measure(rounding.position, stateAt.position, 3)
    errors.velocityChange[column] = diagonalFactor * measure(rounding.velocity, stateAt.velocity, 3)
    // The angle is twice the error of the quaternion, which has four components.
    const rotationError = 4 * measure(rounding.orientation, stateAt.orientation, 4)
    errors.rotation[column] = rotationError
    const spin = rounding.spin === rounding.velocity ? length3(...read3(s, at + stateAt.spin)) || 0 : 0
    errors.spinChange[column] =
      diagonalFactor * measure(rounding.spin, stateAt.spin, 3) + rotationError * spin
  }
  measureContactErrors(step)
  measureJointErrors(step)
}

function measureContactErrors(step: RoundedStep): void {
  const { scene, window, row, dt, errors } = step
  const { rounding, columnById, massErrors, g } = scene
  errors.impulse.fill(0)
  errors.torque.fill(0)
  const s = window.states.data
  for (let column = 0; column < scene.bodies.length; column++) {
    const [v, u] = [
      read3(s, getOffset(step, column) + stateAt.velocity),
      read3(s, getOffsetBefore(step, column) + stateAt.velocity),
    ]
    const change = length3(v[0] - u[0], v[1] - u[1], v[2] - u[2])
    errors.impulse[column] = num(massErrors, column) * ((change || 0) + (g * dt || 0))
  }
  const { offset, data } = window.friction
  const block = data.data
  const factor = getImpulseFactor(scene, dt)
  for (let i = offset[row] ?? 0; i < (offset[row + 1] ?? 0); i++) {
    const row = i * frictionAt.width
    const [n, t1, t2] = [frictionAt.n, frictionAt.t1, frictionAt.t2].map(
      (part) => Math.abs(num(block, row + part)) || 0,
    ) as [number, number, number]
    const size = n + t1 + t2
    const impulse =
      getError(rounding.impulse, n) +
      getError(rounding.impulse, t1) +
      getError(rounding.impulse, t2) +
      diagonalFactor * getError(rounding.direction, 1) * size
    for (const [end, arm] of [
      [frictionAt.a, frictionAt.leverA],
      [frictionAt.b, frictionAt.leverB],
    ] as const) {
      const column = columnById.get(num(block, row + end))
      if (column === undefined) continue
      const lever = length3(...read3(block, row + arm)) || 0
      errors.impulse[column] = num(errors.impulse, column) + (factor * impulse || 0)
      // A lever arm is the difference of two positions.
      const torque = lever * impulse + num(errors.displacement, column) * size
      errors.torque[column] = num(errors.torque, column) + (factor * torque || 0)
    }
  }
}

function measureJointErrors(step: RoundedStep): void {
  const { scene, window, row, dt, errors } = step
  const { rounding, columnById } = scene
  const { offset, data } = window.joints
  const block = data.data
  const factor = getImpulseFactor(scene, dt)
  for (let i = offset[row] ?? 0; i < (offset[row + 1] ?? 0); i++) {
    const joint = i * jointAt.width
    const size = length3(...read3(block, joint + jointAt.impulse))
    const impulse = diagonalFactor * getError(rounding.impulse, size)
    const turning =
      diagonalFactor * getError(rounding.impulse, length3(...read3(block, joint + jointAt.torque)))
    for (const end of [jointAt.a, jointAt.b]) {
      const column = columnById.get(num(block, joint + end))
      if (column === undefined) continue
      const [point, centre] = [
        read3(block, joint + jointAt.point),
        read3(window.states.data, getOffset(step, column)),
      ]
      const lever = length3(point[0] - centre[0], point[1] - centre[1], point[2] - centre[2])
      const torque = turning + lever * impulse + num(errors.displacement, column) * size
      errors.impulse[column] = num(errors.impulse, column) + (factor * impulse || 0)
      errors.torque[column] = num(errors.torque, column) + (factor * torque || 0)
    }
  }
}
