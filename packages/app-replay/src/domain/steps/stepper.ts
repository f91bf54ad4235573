import { collisionAt, constraintAt, externalAt, type FrameWindow, frictionAt } from '@causeway/recording'
import { getConeExcess } from '../contacts/friction-cone.ts'
import { getOffset, getOffsetBefore, num } from './block.ts'
import { createJointForces, readJoints } from './joint-forces.ts'
import { BreachFinder, measureDisplacements } from './motion.ts'
import { SurfaceMeter } from './moving-surfaces.ts'
import { getError } from './rounding.ts'
import { getImpulseFactor, type Scene } from './scene.ts'
import { findAsleep } from './sleep.ts'
import { impulseKnowledge, type Step } from './step.ts'
import { createStepErrors, measureErrors } from './step-errors.ts'
import { addNormal, beginFrame, createTouch, getCosine, type Touch } from './touch.ts'

export class Stepper {
  readonly #step: Step
  readonly #pairs = new Map<number, Touch>()
  #latest: Touch | undefined
  readonly #breaches = new BreachFinder()
  readonly #surfaces = new SurfaceMeter()

  constructor(scene: Scene) {
    const count = scene.bodies.length
    const step: Step = {
      scene,
      window: undefined as never,
      row: -1,
      frame: Number.NaN,
      recordedDt: Number.NaN,
      dt: Number.NaN,
      breach: null,
      touches: [],
      partners: new Float64Array(count),
      touching: new Uint8Array(count),
      touchedBefore: new Uint8Array(count),
      impulse: new Float64Array(3 * count),
      torque: new Float64Array(3 * count),
      impulseKnown: new Uint8Array(count),
      contactAxis: new Float64Array(3 * count),
      frictionLimit: new Float64Array(count),
      external: new Float64Array(3 * count),
      externalTorque: new Float64Array(3 * count),
      hasExternal: new Uint8Array(count),
      asleep: new Uint8Array(count),
      errors: createStepErrors(count),
      surfaces: this.#surfaces,
      joints: createJointForces(scene),
      displacement: new Float64Array(3 * count),
      distance: new Float64Array(count),
      previousDisplacement: new Float64Array(3 * count),
    }
    this.#step = step
  }

  moveTo(window: FrameWindow, row: number): Step {
    const step = this.#step
    const isNext = row > 0 && window.frames[row - 1] === step.frame
    step.window = window
    step.row = row
    step.frame = window.frames[row] ?? Number.NaN
    const isConsecutive = row > 0 && (window.frames[row - 1] ?? 0) === step.frame - 1
    step.recordedDt = isConsecutive ? (window.times[row] ?? 0) - (window.times[row - 1] ?? 0) : Number.NaN
    step.previousDisplacement.set(step.displacement)
    if (!isNext || step.breach !== null) step.previousDisplacement.fill(Number.NaN)
    measureDisplacements(step)
    step.breach = isConsecutive ? this.#breaches.find(step) : null
    step.dt = isConsecutive && step.breach === null ? toExactStep(step) : Number.NaN
    step.touchedBefore.set(step.touching)
    if (!isNext) step.touchedBefore.fill(0)
    step.touching.fill(0)
    step.partners.fill(0)
    step.touches = []
    this.#readCollisions(window, row)
    this.#readConstraints(window, row)
    this.#readFriction(window, row)
    sumImpulses(step)
    readExternals(step)
    readJoints(step)
    findAsleep(step, impulseKnowledge.complete)
    measureErrors(step)
    this.#surfaces.observe(step)
    return step
  }

  #getTouch(a: number, b: number): Touch {
    const step = this.#step
    const latestTouch = this.#latest
    // The rows of a pair are consecutive.
    if (
      latestTouch !== undefined &&
      latestTouch.a === a &&
      latestTouch.b === b &&
      latestTouch.frame === step.frame
    )
      return latestTouch
    const key = a * 2 ** 32 + b
    let touch = this.#pairs.get(key)
    if (touch === undefined) {
      const { columnById } = step.scene
      touch = createTouch(a, b, { a: columnById.get(a) ?? -1, b: columnById.get(b) ?? -1 }, key)
      this.#pairs.set(key, touch)
    }
    if (touch.frame !== step.frame) {
      beginFrame(touch, step.frame)
      step.touches.push(touch)
      addContact(step, touch.columnA)
      addContact(step, touch.columnB)
    }
    this.#latest = touch
    return touch
  }

  #readCollisions({ collisions }: FrameWindow, row: number): void {
    const block = collisions.data.data
    for (let i = collisions.offset[row] ?? 0; i < (collisions.offset[row + 1] ?? 0); i++) {
      const at = i * collisionAt.width
      const touch = this.#getTouch(block[at] ?? 0, block[at + 1] ?? 0)
      copyVector(touch.normal, block, at + collisionAt.normal)
      addNormal(touch, block, at + collisionAt.normal)
      raiseDepth(touch, num(block, at + collisionAt.depth))
    }
  }

  #readConstraints({ constraints }: FrameWindow, row: number): void {
    const block = constraints.data.data
    for (let i = constraints.offset[row] ?? 0; i < (constraints.offset[row + 1] ?? 0); i++) {
      const at = i * constraintAt.width
      const touch = this.#getTouch(block[at] ?? 0, block[at + 1] ?? 0)
      if (touch.constraintRows === 0) {
        copyVector(touch.normal, block, at + constraintAt.normal)
        // Normals of the solver replace those of collision detection.
        touch.normals.count = 0
      }
      addNormal(touch, block, at + constraintAt.normal)
      raiseDepth(touch, num(block, at + constraintAt.depth))
      touch.constraintRows += 1
      touch.leverRows += 1
      updateMean(touch.leverA, block, at + constraintAt.leverA, touch.leverRows)
      updateMean(touch.leverB, block, at + constraintAt.leverB, touch.leverRows)
      touch.restitution = num(block, at + constraintAt.restitution)
      const closing = num(block, at + constraintAt.closing)
      if (!(Math.abs(closing) <= Math.abs(touch.closingSpeed))) touch.closingSpeed = closing
    }
  }

  #readFriction({ friction }: FrameWindow, row: number): void {
    const block = friction.data.data
    const rowImpulse: [number, number, number] = [0, 0, 0]
    for (let i = friction.offset[row] ?? 0; i < (friction.offset[row + 1] ?? 0); i++) {
      const at = i * frictionAt.width
      const touch = this.#getTouch(block[at] ?? 0, block[at + 1] ?? 0)
      if (touch.constraintRows === 0) {
        if (touch.frictionRows === 0) {
          copyVector(touch.normal, block, at + frictionAt.normal)
          touch.normals.count = 0
        }
        addNormal(touch, block, at + frictionAt.normal)
        touch.leverRows += 1
        updateMean(touch.leverA, block, at + frictionAt.leverA, touch.leverRows)
        updateMean(touch.leverB, block, at + frictionAt.leverB, touch.leverRows)
      }
      touch.frictionRows += 1
      const n = num(block, at + frictionAt.n)
      // Solvers leave tangential noise on points without load.
      const isLoaded = n !== 0
      const mu = num(block, at + frictionAt.mu)
      const limit = mu * Math.abs(n)
      const t1 = toTangential(num(block, at + frictionAt.t1), limit)
      const t2 = toTangential(num(block, at + frictionAt.t2), limit)
      touch.limit += limit
      touch.maxFriction = Math.max(touch.maxFriction, mu)
      touch.minFriction = Math.min(touch.minFriction, mu)
      const tangent = Math.sqrt(t1 * t1 + t2 * t2)
      const largest = Math.max(Math.abs(t1), Math.abs(t2))
      if (
        isLoaded &&
        Math.abs(tangent - limit) <= limitTolerance * limit &&
        largest < maxTangentShare * tangent
      ) {
        touch.coneRows += 1
        if (Math.abs(tangent - limit) <= roundingTolerance * limit) touch.exactConeRows += 1
      }
      if (
        isLoaded &&
        Math.abs(largest - limit) <= limitTolerance * limit &&
        getConeExcess(tangent, limit) > 0
      )
        touch.pyramidRows += 1
      if (isLoaded && getConeExcess(tangent, limit) > getConeExcess(touch.rowTangent, touch.rowLimit)) {
        touch.rowTangent = tangent
        touch.rowAxis = largest
        touch.rowLimit = limit
      }
      for (let axis = 0 as 0 | 1 | 2; axis < 3; axis++) {
        const force =
          scale(t1, num(block, at + frictionAt.tangent1 + axis)) +
          scale(t2, num(block, at + frictionAt.tangent2 + axis))
        if (isLoaded) touch.tangent[axis] += force
        const normalPart = n * num(block, at + frictionAt.normal + axis)
        touch.impulse[axis] += force - normalPart
        touch.normalImpulse[axis] -= normalPart
        rowImpulse[axis] = force - normalPart
      }
      addCross(touch.torqueA, block, at + frictionAt.leverA, rowImpulse)
      addCross(touch.torqueB, block, at + frictionAt.leverB, rowImpulse)
    }
  }
}

function addContact({ touching, partners }: Step, column: number): void {
  if (column < 0) return
  touching[column] = 1
  partners[column] = num(partners, column) + 1
}

/** Returns the recorded step in s, or the usual one if the clock is broken or rounding explains the difference. */
function toExactStep({ scene, recordedDt, window, row }: Step): number {
  const error = 2.02 * getError(scene.rounding.time, num(window.times, row))
  return recordedDt > 0 && Math.abs(recordedDt - scene.dt) > error ? recordedDt : scene.dt
}

/** Maximum ratio of a tangent to friction on a cone; relative errors at the limit, and of single precision. */
const [maxTangentShare, limitTolerance, roundingTolerance] = [0.985, 1e-3, 1e-6] as const

/** Returns 0 for an unrecorded impulse if friction or load is 0. */
const toTangential = (recorded: number, limit: number): number =>
  Number.isNaN(recorded) && limit === 0 ? 0 : recorded

/** Accepts an impulse of 0 without a direction, because 2D simulations record only one tangent. */
const scale = (impulse: number, direction: number): number => (impulse === 0 ? 0 : impulse * direction)

function sumImpulses(step: Step): void {
  const { scene, impulse, torque, impulseKnown, contactAxis, frictionLimit, touches, dt } = step
  impulse.fill(0)
  frictionLimit.fill(0)
  torque.fill(0)
  impulseKnown.fill(impulseKnowledge.complete)
  contactAxis.fill(Number.NaN)
  const factor = getImpulseFactor(scene, dt)
  for (const touch of touches) {
    const isRecorded = touch.frictionRows > 0 && Number.isFinite(factor)
    addImpulse(touch.columnA, isRecorded, factor, touch)
    addImpulse(touch.columnB, isRecorded, -factor, touch)
  }

  function addImpulse(column: number, isRecorded: boolean, weight: number, touch: Touch): void {
    if (column < 0) return
    const isParallel = alignAxis(contactAxis, column, touch)
    const isComplete = !Number.isNaN(touch.impulse[0])
    const [x, y, z] = isComplete ? touch.impulse : touch.normalImpulse
    const isNormal = !isComplete && isParallel && !Number.isNaN(x)
    if (
      !isRecorded ||
      !(isComplete || isNormal) ||
      (!isParallel && impulseKnown[column] === impulseKnowledge.normal)
    ) {
      impulseKnown[column] = impulseKnowledge.none
      return
    }
    if (isNormal) {
      if (impulseKnown[column] === impulseKnowledge.complete) impulseKnown[column] = impulseKnowledge.normal
      frictionLimit[column] = num(frictionLimit, column) + Math.abs(weight) * touch.limit
    }
    const at = 3 * column
    impulse[at] = num(impulse, at) + weight * x
    impulse[at + 1] = num(impulse, at + 1) + weight * y
    impulse[at + 2] = num(impulse, at + 2) + weight * z
    const moment = column === touch.columnA ? touch.torqueA : touch.torqueB
    for (const axis of [0, 1, 2] as const) torque[at + axis] = num(torque, at + axis) + weight * moment[axis]
  }
}

/** Cosine of 5 degrees. */
const parallelCosine = 0.996

/** Stores the first normal. Returns whether the touch's normals are parallel to it. */
function alignAxis(axes: Float64Array, column: number, { normals }: Touch): boolean {
  if (Number.isNaN(num(axes, 3 * column)))
    for (let i = 0; i < 3; i++) axes[3 * column + i] = num(normals.vectors, i)
  for (let i = 0; i < normals.count; i++)
    if (!(Math.abs(getCosine(axes, 3 * column, normals.vectors, 3 * i)) > parallelCosine)) return false
  return true
}

function readExternals(step: Step): void {
  const { scene, window, row, external, externalTorque, hasExternal } = step
  external.fill(0)
  externalTorque.fill(0)
  hasExternal.fill(0)
  const { offset, data } = window.externals
  for (let i = offset[row] ?? 0; i < (offset[row + 1] ?? 0); i++) {
    const at = i * externalAt.width
    const column = scene.columnById.get(data.data[at] ?? -1)
    if (column === undefined) continue
    hasExternal[column] = 1
    const sum: [number, number, number] = [0, 0, 0]
    const lever = new Float64Array(3)
    for (const axis of [0, 1, 2] as const) {
      const force = data.data[at + externalAt.force + axis] ?? 0
      external[3 * column + axis] = num(external, 3 * column + axis) + force
      sum[axis] = data.data[at + externalAt.torque + axis] ?? 0
      // Without a point, the force acts at the centre of mass.
      const point = num(data.data, at + externalAt.point + axis)
      const from = row > 0 ? getOffsetBefore(step, column) : getOffset(step, column)
      lever[axis] = Number.isNaN(point) ? 0 : point - num(window.states.data, from + axis)
    }
    const force = data.data.subarray(at + externalAt.force, at + externalAt.force + 3)
    addCross(sum, lever, 0, [num(force, 0), num(force, 1), num(force, 2)])
    for (const axis of [0, 1, 2] as const)
      externalTorque[3 * column + axis] = num(externalTorque, 3 * column + axis) + sum[axis]
  }
}

/** Adds lever × impulse. */
function addCross(
  sum: [number, number, number],
  block: Float64Array,
  at: number,
  [x, y, z]: readonly [number, number, number],
): void {
  const [a, b, c] = [num(block, at), num(block, at + 1), num(block, at + 2)]
  sum[0] += b * z - c * y
  sum[1] += c * x - a * z
  sum[2] += a * y - b * x
}

function raiseDepth(touch: Touch, depth: number): void {
  if (Number.isNaN(touch.depth) || depth > touch.depth) touch.depth = depth
}

function copyVector(to: [number, number, number], from: Float64Array, at: number): void {
  to[0] = num(from, at)
  to[1] = num(from, at + 1)
  to[2] = num(from, at + 2)
}

function updateMean(mean: [number, number, number], from: Float64Array, at: number, count: number): void {
  mean[0] += (num(from, at) - mean[0]) / count
  mean[1] += (num(from, at + 1) - mean[1]) / count
  mean[2] += (num(from, at + 2) - mean[2]) / count
}
