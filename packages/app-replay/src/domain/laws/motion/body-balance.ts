import { energyAt, stateAt } from '@causeway/recording'
import { getOffset, getOffsetBefore, length3, num, read3 } from '../../steps/block.ts'
import { getJointTolerance } from '../../steps/joint-forces.ts'
import { getError } from '../../steps/rounding.ts'
import { impulseKnowledge, type Step } from '../../steps/step.ts'
import type { Point3 } from '../../vector.ts'
import type { WeakAccelerations } from './constant-acceleration.ts'
import type { NoiseMeter } from './noise-meter.ts'

/** Tolerances relative to the largest term, for free bodies and for bodies in contact. */
export const balanceTolerance = { free: 0.01, contact: 0.05 } as const

export interface UnexplainedMotion {
  readonly work: number
  readonly allowedWork: number
  readonly maxWork: number
  readonly residual: number
  readonly allowedResidual: number
  readonly kinetic: number
  readonly kineticBefore: number
  /** Whether contacts or joints act. */
  readonly isConstrained: boolean
  /** Unexplained impulse in N·s; `null` if a force is unknown. */
  readonly residualImpulse: Point3 | null
}

/** Returns `null` if the step is explained or cannot be judged. */
export function measureBody(
  step: Step,
  column: number,
  meters?: { readonly noise: NoiseMeter; readonly weakAccelerations: WeakAccelerations },
): UnexplainedMotion | null {
  const { scene, window, dt, impulse, external, joints, errors } = step
  if (joints.isKnown[column] === 0) return null
  const isJointed = joints.isJointed[column] === 1
  const isTouching = step.touching[column] === 1
  const impulseState = isTouching ? num8(step.impulseKnown, column) : impulseKnowledge.complete
  if (impulseState === impulseKnowledge.none && !scene.hasImpulses) return null
  const isPushed = step.hasExternal[column] === 1
  const mass = num(scene.masses, column)
  const s = window.states.data
  const at = getOffset(step, column) + stateAt.velocity
  const previousAt = getOffsetBefore(step, column) + stateAt.velocity
  const vx = num(s, at)
  const vy = num(s, at + 1)
  const vz = num(s, at + 2)
  const ux = num(s, previousAt)
  const uy = num(s, previousAt + 1)
  const uz = num(s, previousAt + 2)
  const [gx, gy, gz] = scene.gravity
  let rx = mass * (vx - ux - gx * dt)
  let ry = mass * (vy - uy - gy * dt)
  let rz = mass * (vz - uz - gz * dt)
  let appliedSize = 0
  if (isTouching || isPushed || isJointed) {
    const part = 3 * column
    const contact = isTouching ? 1 : 0
    const jx = contact * num(impulse, part) + num(external, part) * dt + num(joints.impulse, part)
    const jy = contact * num(impulse, part + 1) + num(external, part + 1) * dt + num(joints.impulse, part + 1)
    const jz = contact * num(impulse, part + 2) + num(external, part + 2) * dt + num(joints.impulse, part + 2)
    appliedSize = Math.abs(jx) + Math.abs(jy) + Math.abs(jz)
    rx -= jx
    ry -= jy
    rz -= jz
    if (impulseState !== impulseKnowledge.complete) {
      const r: [number, number, number] = [rx, ry, rz]
      if (impulseState === impulseKnowledge.none) removeNormalParts(step, column, r)
      else removeFriction(step, column, r)
      ;[rx, ry, rz] = r
    }
  }
  const share = isTouching || isPushed ? balanceTolerance.contact : balanceTolerance.free
  const minAllowed = share * mass * scene.g * dt
  const error = mass * num(errors.velocityChange, column) + num(errors.impulse, column)
  const freeGain = isTouching || isPushed || isJointed ? null : measureFreeGain(step, column, mass)
  if (freeGain !== null && step.asleep[column] !== 1) {
    meters?.noise.add(column, step.frame, { x: rx, y: ry, z: rz, ...freeGain, slack: minAllowed })
    if (step.touchedBefore[column] === 0)
      meters?.weakAccelerations.add(step, column, [rx, ry, rz], minAllowed)
  }
  // Other motions, such as those that end at a surface, are judged by the law of velocities.
  const gain = freeGain?.exceedsRounding && isAlongVelocity(step, column) ? freeGain : null
  const isGain = gain !== null && Math.abs(gain.work) > gain.allowed
  if (!isGain && rx * rx + ry * ry + rz * rz <= (minAllowed + error) ** 2) return null
  const residual = length3(rx, ry, rz)
  const [before, after] = [length3(ux, uy, uz), length3(vx, vy, vz)]
  // Single precision rounds velocities to 6e-8, several times per step.
  const rounding = 2e-6 * mass * Math.max(before, after) + 1e-9 + error
  const largest = Math.max(mass * length3(vx - ux, vy - uy, vz - uz), mass * scene.g * dt, appliedSize)
  const allowedResidual = 1e-6 + share * largest + rounding + getJointTolerance(step, column, share)
  const isUnbalanced = residual > allowedResidual
  if (!isUnbalanced && !isGain) return null
  const work = (rx * (ux + vx) + ry * (uy + vy) + rz * (uz + vz)) / 2
  const meanSpeed = length3(ux + vx, uy + vy, uz + vz) / 2
  return {
    work: isGain ? gain.work : work,
    allowedWork: gain === null ? allowedResidual * Math.max(before, after, 1e-3) : gain.allowed,
    maxWork: isGain && !isUnbalanced ? Math.abs(gain.work) : residual * Math.max(meanSpeed, 1e-9),
    residual: Number.isNaN(residual) ? 0 : residual,
    allowedResidual,
    kinetic: 0.5 * mass * after * after,
    kineticBefore: 0.5 * mass * before * before,
    isConstrained: isTouching || isJointed,
    // Set even within the tolerance: the energy reveals a weak constant force first.
    residualImpulse:
      residual > 0.1 * rounding && impulseState === impulseKnowledge.complete ? [rx, ry, rz] : null,
  }
}

/** Whether the motion agrees with the velocities, within 1 mm and dv dt. */
function isAlongVelocity(step: Step, column: number): boolean {
  const { scene, window, dt, displacement } = step
  const s = window.states.data
  const [v, u] = [
    getOffset(step, column) + stateAt.velocity,
    getOffsetBefore(step, column) + stateAt.velocity,
  ]
  let [squaredDeviation, change] = [0, 0]
  for (let i = 0; i < 3; i++) {
    squaredDeviation += (num(displacement, 3 * column + i) - num(s, v + i) * dt) ** 2
    change += (num(s, v + i) - num(s, u + i)) ** 2
  }
  return !(Math.sqrt(squaredDeviation) > maxJump + 1.05 * (Math.sqrt(change) + scene.g * dt) * dt)
}

/** m */
const maxJump = 1e-3

/** Values in J. */
interface FreeGain {
  readonly work: number
  readonly gain: number
  readonly allowed: number
  /** Largest gain or loss of a correct step. */
  readonly gainSlack: number
  /** Whether `work` exceeds rounding. */
  readonly exceedsRounding: boolean
}

/**
 * Returns the gain in J that neither Euler method explains. Uses recorded energies only for rotation with unknown
 * inertia.
 */
function measureFreeGain(step: Step, column: number, mass: number): FreeGain {
  const { scene, window, dt, displacement } = step
  const s = window.states.data
  const [at, previousAt] = [getOffset(step, column), getOffsetBefore(step, column)]
  const linear = 0.5 * mass * readSquare(s, at + stateAt.velocity)
  const change = linear - 0.5 * mass * readSquare(s, previousAt + stateAt.velocity)
  const [gx, gy, gz] = scene.gravity
  const part = 3 * column
  const fall =
    mass *
    (gx * num(displacement, part) + gy * num(displacement, part + 1) + gz * num(displacement, part + 2))
  const [rotational, rotationalBefore] = [
    readRotationalEnergy(step, column, step.row),
    readRotationalEnergy(step, column, step.row - 1),
  ]
  const rotationalChange = rotational - rotationalBefore
  const integratorLoss = 0.51 * mass * (scene.g * dt) ** 2
  // Semi-implicit Euler loses this energy; explicit Euler gains it.
  const linearGain = change - fall
  const unexplainedMotion = Math.sign(linearGain) * Math.max(0, Math.abs(linearGain) - integratorLoss)
  const work = unexplainedMotion + (Number.isNaN(rotationalChange) ? 0 : rotationalChange)
  const height = mass * scene.g * Math.sqrt(readSquare(s, at + stateAt.position))
  const spin = Math.max(rotational, rotationalBefore) || 0
  const rounding = 1e-6 * (linear + height) + 1e-9 + measureEnergyError(step, column, mass)
  const gain = linearGain + (Number.isNaN(rotationalChange) ? 0 : rotationalChange)
  if (!(Math.abs(work) > rounding))
    return { work, gain, allowed: rounding, gainSlack: integratorLoss + rounding, exceedsRounding: false }
  const allowed = rounding + getSpinTolerance(step, column) * spin
  return { work, gain, allowed, gainSlack: integratorLoss + allowed, exceedsRounding: true }
}

/** Returns the rounding error of an energy change in J. */
export function measureEnergyError(step: Step, column: number, mass: number): number {
  const { scene, window, errors } = step
  if (scene.rounding.isExact) return 0
  const s = window.states.data
  const getLargest = (part: number): number =>
    Math.max(
      length3(...read3(s, getOffset(step, column) + part)),
      length3(...read3(s, getOffsetBefore(step, column) + part)),
    )
  const [speed, spin] = [getLargest(stateAt.velocity), getLargest(stateAt.spin)]
  const change = length3(
    ...(([0, 1, 2] as const).map(
      (i) =>
        num(s, getOffset(step, column) + stateAt.spin + i) -
        num(s, getOffsetBefore(step, column) + stateAt.spin + i),
    ) as [number, number, number]),
  )
  const moment = Math.max(0, ...(scene.inertias[column] ?? []))
  const rotationalError =
    moment * spin * (num(errors.spinChange, column) + num(scene.inertiaErrors, column) * change) ||
    2 * getError(scene.rounding.energy, 0)
  return (
    mass * (speed * num(errors.velocityChange, column) + (scene.g || 0) * num(errors.displacement, column)) +
    rotationalError
  )
}

export function readSquare(block: Float64Array, at: number): number {
  const [x, y, z] = [num(block, at), num(block, at + 1), num(block, at + 2)]
  return x * x + y * y + z * z
}

/** Returns the energy in J, computed from spin and inertia if known, otherwise as recorded; NaN if unknown. */
export function readRotationalEnergy({ scene, window }: Step, column: number, row: number): number {
  const at = row * scene.bodies.length + column
  const inertia = scene.inertias[column]
  if (inertia === undefined) return num(window.energies.data, at * energyAt.width + energyAt.rotational)
  const spin = at * stateAt.width + stateAt.spin
  const getTerm = (i: 0 | 1 | 2): number => inertia[i] * num(window.states.data, spin + i) ** 2
  return 0.5 * (getTerm(0) + getTerm(1) + getTerm(2))
}

/** Maximum relative error of the rotational energy. */
export const maxSpinError = 2e-3

/** Returns the relative error of the rotational energy in an explicit step: (dw / w)², at most 0.3 (w dt)². */
function getSpinTolerance(step: Step, column: number): number {
  const s = step.window.states.data
  const at = getOffset(step, column) + stateAt.spin
  const previousAt = getOffsetBefore(step, column) + stateAt.spin
  const [a, b, c] = [num(s, at), num(s, at + 1), num(s, at + 2)]
  const spin = length3(a, b, c)
  if (!(spin > 0)) return 0
  const change =
    length3(a - num(s, previousAt), b - num(s, previousAt + 1), c - num(s, previousAt + 2)) / spin
  return maxSpinError + Math.min(4 * change * change, 0.3 * (spin * step.dt) ** 2)
}

/** Maximum friction relative to mu Jn. A friction pyramid reaches 1.41. */
const maxUnrecordedFriction = 1.5

/** Removes what friction can explain; if mu is unknown, the entire component perpendicular to the common normal. */
function removeFriction(
  { contactAxis, frictionLimit }: Step,
  column: number,
  r: [number, number, number],
): void {
  const at = 3 * column
  const n = [num(contactAxis, at), num(contactAxis, at + 1), num(contactAxis, at + 2)] as const
  const along = r[0] * n[0] + r[1] * n[1] + r[2] * n[2]
  const across = [r[0] - along * n[0], r[1] - along * n[1], r[2] - along * n[2]] as const
  const size = length3(...across)
  const excess = size - maxUnrecordedFriction * num(frictionLimit, column)
  const remaining = excess > 0 ? excess / size : 0
  for (const i of [0, 1, 2] as const) r[i] = along * n[i] + remaining * across[i]
}

const num8 = (block: Uint8Array, index: number): number => block[index] ?? 0

function removeNormalParts({ touches }: Step, column: number, r: [number, number, number]): void {
  for (const { columnA, columnB, normal } of touches) {
    if (columnA !== column && columnB !== column) continue
    const along = r[0] * normal[0] + r[1] * normal[1] + r[2] * normal[2]
    for (const i of [0, 1, 2] as const) r[i] -= along * normal[i]
  }
}
