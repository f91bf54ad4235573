/** Momentum and energy of a group of bodies (docs/laws.md). Forces of joints within the group cancel. */
import { stateAt } from '@causeway/recording'
import { getOffset, getOffsetBefore, length3, num, read3 } from '../../steps/block.ts'
import { getGroupTolerance } from '../../steps/joint-forces.ts'
import { impulseKnowledge, type Step } from '../../steps/step.ts'
import { add, type Point3 } from '../../vector.ts'
import {
  balanceTolerance,
  maxSpinError,
  measureEnergyError,
  readRotationalEnergy,
  readSquare,
  type UnexplainedMotion,
} from './body-balance.ts'

/** Returns `null` if the step is explained or cannot be judged. */
export function measureGroup(step: Step, index: number): UnexplainedMotion | null {
  const group = step.scene.groups[index]
  if (group === undefined) return null
  const { columns } = group
  const { joints } = step
  // If all joints are known, each body is balanced separately.
  const balancesAsGroup =
    joints.isGroupKnown[index] === 1 && columns.some((column) => joints.isKnown[column] === 0)
  const isTouching = columns.some((column) => step.touching[column] === 1)
  const isPushed = columns.some((column) => step.hasExternal[column] === 1)
  const momentum = balancesAsGroup ? measureMomentum(step, index, isTouching || isPushed) : null
  const gain = isTouching || isPushed ? null : measureGain(step, index)
  if (momentum === null && gain === null) return null
  const { before, after, mass } = sumMotion(step, columns)
  const [speedBefore, speed] = [length3(...before) / mass, length3(...after) / mass]
  const residual = momentum === null ? 0 : length3(...momentum.residualImpulse)
  const meanSpeed = length3(...add(before, after)) / (2 * mass)
  const work = momentum === null ? 0 : dotMeanVelocity(momentum.residualImpulse, before, after) / mass
  return {
    work: gain?.work ?? work,
    allowedWork: gain?.allowed ?? (momentum?.allowed ?? 1) * Math.max(speedBefore, speed, 1e-3),
    maxWork: gain?.work ?? residual * Math.max(meanSpeed, 1e-9),
    residual,
    allowedResidual: momentum?.allowed ?? 1,
    kinetic: sumKinetic(step, columns, step.row),
    kineticBefore: sumKinetic(step, columns, step.row - 1),
    isConstrained: true,
    residualImpulse: momentum?.residualImpulse ?? null,
  }
}

interface Motion {
  /** Sum of m v, N·s. */
  readonly before: Point3
  readonly after: Point3
  /** kg */
  readonly mass: number
}

function sumMotion(step: Step, columns: readonly number[]): Motion {
  const s = step.window.states.data
  let [before, after, mass]: [Point3, Point3, number] = [[0, 0, 0], [0, 0, 0], 0]
  for (const column of columns) {
    const bodyMass = num(step.scene.masses, column)
    mass += bodyMass
    before = add(before, read3(s, getOffsetBefore(step, column) + stateAt.velocity), bodyMass)
    after = add(after, read3(s, getOffset(step, column) + stateAt.velocity), bodyMass)
  }
  return { before, after, mass }
}

/** Returns the unexplained change of momentum in N·s; `null` if it is explained or an impulse is unknown. */
function measureMomentum(
  step: Step,
  index: number,
  hasForces: boolean,
): { readonly residualImpulse: Point3; readonly allowed: number } | null {
  const { scene, dt, joints, touching, impulseKnown } = step
  const columns = scene.groups[index]?.columns ?? []
  const { before, after, mass } = sumMotion(step, columns)
  let appliedImpulse: Point3 = [0, 0, 0]
  for (const column of columns) {
    // Impulses of contacts between bodies of the group cancel in the sum.
    if (touching[column] === 1) {
      if (impulseKnown[column] !== impulseKnowledge.complete) return null
      appliedImpulse = add(appliedImpulse, read3(step.impulse, 3 * column))
    }
    appliedImpulse = add(appliedImpulse, read3(step.external, 3 * column), dt)
    appliedImpulse = add(appliedImpulse, read3(joints.impulse, 3 * column))
  }
  const change = add(after, before, -1)
  const residualImpulse = add(add(change, scene.gravity, -mass * dt), appliedImpulse, -1)
  const share = hasForces ? balanceTolerance.contact : balanceTolerance.free
  const largest = Math.max(length3(...change), mass * scene.g * dt, length3(...appliedImpulse))
  const error = columns.reduce(
    (sum, column) =>
      sum +
      num(scene.masses, column) * num(step.errors.velocityChange, column) +
      num(step.errors.impulse, column),
    0,
  )
  const rounding = 2e-6 * Math.max(length3(...before), length3(...after)) + 1e-9 + error
  const allowed = 1e-6 + share * largest + rounding + getGroupTolerance(step, index)
  return length3(...residualImpulse) > allowed ? { residualImpulse, allowed } : null
}

/** Returns the gain in J beyond the work of the joints. Ignores losses, because joints have friction. */
function measureGain(step: Step, index: number): { readonly work: number; readonly allowed: number } | null {
  const { scene, joints, displacement, window, dt } = step
  if (joints.isWorkKnown[index] !== 1) return null
  const columns = scene.groups[index]?.columns ?? []
  let [fall, height, turn, error] = [0, 0, 0, 0]
  for (const column of columns) {
    const mass = num(scene.masses, column)
    error += measureEnergyError(step, column, mass)
    const [x, y, z] = read3(displacement, 3 * column)
    fall += mass * (scene.gravity[0] * x + scene.gravity[1] * y + scene.gravity[2] * z)
    height += mass * scene.g * Math.sqrt(readSquare(window.states.data, getOffset(step, column)))
    for (const from of [getOffset(step, column), getOffsetBefore(step, column)])
      turn = Math.max(turn, length3(...read3(window.states.data, from + stateAt.spin)) * dt)
  }
  const [now, before] = [sumKinetic(step, columns, step.row), sumKinetic(step, columns, step.row - 1)]
  const work = now - before - fall - num(joints.work, index)
  // The work of a joint and the rotation of lever arms are exact up to the turn of the step.
  const jointError = (2 * turn + maxSpinError) * (now + num(joints.workSize, index))
  const allowed = 1e-6 * (now + height) + 1e-9 + jointError + error
  return work > allowed ? { work, allowed } : null
}

/** Returns the energy in J; NaN if a part is unknown. */
function sumKinetic(step: Step, columns: readonly number[], row: number): number {
  const { scene, window } = step
  let sum = 0
  for (const column of columns) {
    const at = (row * scene.bodies.length + column) * stateAt.width + stateAt.velocity
    sum +=
      0.5 * num(scene.masses, column) * readSquare(window.states.data, at) +
      readRotationalEnergy(step, column, row)
  }
  return sum
}

const dotMeanVelocity = (impulse: Point3, before: Point3, after: Point3): number =>
  (impulse[0] * (before[0] + after[0]) +
    impulse[1] * (before[1] + after[1]) +
    impulse[2] * (before[2] + after[2])) /
  2
