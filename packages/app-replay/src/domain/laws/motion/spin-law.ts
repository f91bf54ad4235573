/**
 * Laws `free_spin` and `angular_momentum` (docs/laws.md, Motion). If the inertia is unknown but rotational energies
 * were recorded, the energy law judges changes along the spin.
 */
import { energyAt, stateAt } from '@causeway/recording'
import { createFinding, type Finding } from '../../findings/finding.ts'
import {
  getOffset,
  getOffsetBefore,
  length3,
  num,
  read3,
  readRotation,
  readWorldSpin,
} from '../../steps/block.ts'
import { getGroupTolerance } from '../../steps/joint-forces.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import { impulseKnowledge, type Step } from '../../steps/step.ts'
import { add, dot3, type Point3, type Rotation, rotate, rotateInverse } from '../../vector.ts'
import type { Law } from '../law.ts'
import { maxDamping } from './balance-account.ts'
import { measureVelocityShare } from './integrator-meter.ts'
import { NoiseMeter } from './noise-meter.ts'
import { SpinDrifts, type Turning } from './spin-drift.ts'

const tolerance = 0.05

/** Maximum share of the residual that remains without the gyroscopic term. */
const maxExplainedShare = 0.2

const minGyroscopicFrames = 5

export function spinLaw(): Law {
  const positionNoise = new PositionNoise()
  const velocityShares = new VelocityShareMeter()
  const bodiesWithInertia = new BodiesWithInertia()
  const freeSpinRuns = new RunCollector(2)
  return {
    observe(step) {
      if (Number.isNaN(step.dt) || !step.scene.hasContacts || step.scene.hasSubsteps) return
      positionNoise.observe(step)
      velocityShares.observe(step)
      for (let column = 0; column < step.scene.bodies.length; column++) {
        const inertia = step.scene.inertias[column]
        if (step.touching[column] === 1 && step.impulseKnown[column] !== impulseKnowledge.complete) continue
        if (step.joints.isTorqueKnown[column] !== 1) continue
        if (inertia !== undefined)
          bodiesWithInertia.add(step, column, inertia, {
            position: positionNoise.measure(column),
            hasSubsteps: velocityShares.mayHaveSubsteps(step),
          })
        else if (isFree(step, column)) {
          const body = step.scene.bodies[column] ?? 0
          const excess = measureFreeSpin(step, column)
          if (excess !== null) freeSpinRuns.add(body, step.frame, excess, { bodies: [body], pair: null })
        }
      }
    },
    findings: () => [
      ...bodiesWithInertia.findings,
      ...freeSpinRuns.runs.map((run) =>
        createFinding(run, { kind: 'angular_momentum', unit: 'rad/s', confidence: 0.9 }),
      ),
    ],
  }
}

const isFree = ({ touching, joints, hasExternal }: Step, column: number): boolean =>
  touching[column] === 0 && joints.isJointed[column] === 0 && hasExternal[column] === 0

interface LeverErrors {
  /** m */
  readonly position: number
  /** Whether impulses may be sums over substeps, in which the contact points move. */
  readonly hasSubsteps: boolean
}

class BodiesWithInertia {
  readonly #runs = new RunCollector(2)
  readonly #gyroscopicRuns = new RunCollector(2)
  readonly #noisyRuns = new RunCollector(Number.POSITIVE_INFINITY)
  readonly #noise = new NoiseMeter()
  readonly #drifts = new SpinDrifts()
  /** Columns of runs that are free throughout. */
  readonly #columnByFreeRun = new Map<Run, number>()

  add(step: Step, column: number, inertia: Point3, levers: LeverErrors): void {
    const body = step.scene.bodies[column] ?? 0
    const subject = { bodies: [body], pair: null }
    const turning = readTurning(step, column, inertia)
    const excess = measureTorque(step, column, turning, levers)
    if (isFree(step, column)) {
      const [x, y, z] = subtract(turning.momentum, turning.momentumBefore)
      const slack = 1e-3 * length3(...turning.momentum)
      this.#noise.add(column, step.frame, { x, y, z, slack, gain: 0, gainSlack: 0 })
      const isNoise = excess !== null && excess.value <= this.#noise.measure(column).residual
      if (isNoise) this.#noisyRuns.add(body, step.frame, excess, subject)
      if (step.touchedBefore[column] === 0 && (excess === null || isNoise))
        this.#drifts.add(step, column, turning)
      if (isNoise) return
    }
    if (excess === null) return
    if (excess.isGyroscopic) {
      if (step.touching[column] === 0 && step.joints.isJointed[column] === 0)
        this.#gyroscopicRuns.add(body, step.frame, excess, subject)
      return
    }
    const run = this.#runs.add(body, step.frame, excess, subject)
    if (!isFree(step, column)) this.#columnByFreeRun.delete(run)
    else if (run.first === step.frame) this.#columnByFreeRun.set(run, column)
  }

  get findings(): readonly Finding[] {
    // The noise level of the first frames is known only now.
    const isNoise = (run: Run): boolean => {
      const column = this.#columnByFreeRun.get(run)
      return column !== undefined && run.value <= this.#noise.measure(column).residual
    }
    return [
      ...this.#runs.runs
        .filter((run) => !isNoise(run))
        .map((run) => createFinding(run, { kind: 'angular_momentum', unit: 'N·m·s', confidence: 0.9 })),
      ...this.#drifts.findings,
      ...this.#gyroscopicRuns.runs
        .filter(({ frames }) => frames >= minGyroscopicFrames)
        .map((run) =>
          createFinding(run, {
            kind: 'angular_momentum',
            severity: 'warning',
            unit: 'N·m·s',
            confidence: 0.85,
            text: 'turns as if the gyroscopic term were missing',
          }),
        ),
      ...this.#noisyRuns.runs.map((run) =>
        createFinding(run, {
          kind: 'angular_momentum',
          severity: 'info',
          unit: 'N·m·s',
          confidence: 0.8,
          text: 'has noise in its recorded spin',
        }),
      ),
    ]
  }
}

/** Maximum level in m, and factor by which it decays per step. */
const noiseRule = { maxLevel: 1e-4, decay: 0.9 } as const

/** Recent position error of each body in m. Its lever arms have the same error. */
class PositionNoise {
  readonly #levels: number[] = []

  observe(step: Step): void {
    for (let column = 0; column < step.scene.bodies.length; column++) {
      if (step.touching[column] !== 1) continue
      const error = Math.min(
        measureMismatch(step, column, getOffset(step, column)),
        measureMismatch(step, column, getOffsetBefore(step, column)),
      )
      const level = noiseRule.decay * (this.#levels[column] ?? 0)
      this.#levels[column] = Math.max(level, Math.min(error || 0, noiseRule.maxLevel))
    }
  }

  measure(column: number): number {
    return this.#levels[column] ?? 0
  }
}

/** Maximum number of sampled steps; minimum distance from 0 and 1, the shares without substeps. */
const velocityShareRule = { maxSteps: 100, minDistance: 0.02 } as const

/** Mean weight of the new velocity in position updates: 1/2 + 1/(2k) for k substeps. */
class VelocityShareMeter {
  #sum = 0
  #steps = 0

  observe(step: Step): void {
    for (
      let column = 0;
      column < step.scene.bodies.length && this.#steps < velocityShareRule.maxSteps;
      column++
    ) {
      const share = measureVelocityShare(step, column)
      if (Number.isNaN(share)) continue
      this.#sum += share
      this.#steps += 1
    }
  }

  mayHaveSubsteps({ scene }: Step): boolean {
    if (this.#steps === 0) return !scene.rounding.isExact
    return Math.abs(this.#sum / this.#steps - 0.5) < 0.5 - velocityShareRule.minDistance
  }
}

/** Returns |displacement - v dt| in m. */
function measureMismatch({ window, displacement, dt }: Step, column: number, at: number): number {
  const s = window.states.data
  const v = at + stateAt.velocity
  const m = 3 * column
  return length3(
    num(displacement, m) - num(s, v) * dt,
    num(displacement, m + 1) - num(s, v + 1) * dt,
    num(displacement, m + 2) - num(s, v + 2) * dt,
  )
}

interface Excess {
  readonly value: number
  readonly limit: number
  /** Whether a missing gyroscopic term explains it. */
  readonly isGyroscopic: boolean
}

function readTurning(step: Step, column: number, inertia: Point3): Turning {
  const s = step.window.states.data
  const [at, previousAt] = [getOffset(step, column), getOffsetBefore(step, column)]
  const rotationBefore = readRotation(s, previousAt)
  const [spin, spinBefore] = [readWorldSpin(s, at), readWorldSpin(s, previousAt)]
  const largest = Math.max(...inertia)
  return {
    inertia,
    rotationBefore,
    momentum: applyInertia(readRotation(s, at), inertia, spin),
    momentumBefore: applyInertia(rotationBefore, inertia, spinBefore),
    spin,
    spinBefore,
    anisotropy: largest > 0 ? (largest - Math.min(...inertia)) / largest : 1,
  }
}

function measureTorque(
  step: Step,
  column: number,
  { inertia, rotationBefore, momentum, momentumBefore, spin, spinBefore, anisotropy }: Turning,
  levers: LeverErrors,
): Excess | null {
  const { window, dt, torque, externalTorque, joints } = step
  const s = window.states.data
  const previousAt = getOffsetBefore(step, column)
  const part = (i: 0 | 1 | 2): number =>
    num(torque, 3 * column + i) +
    num(externalTorque, 3 * column + i) * dt +
    num(joints.torque, 3 * column + i)
  const appliedTorque: Point3 = [part(0), part(1), part(2)]
  const change = subtract(momentum, momentumBefore)
  const changeWithoutGyro = applyInertia(rotationBefore, inertia, subtract(spin, spinBefore))
  const residual = length3(...removeDamping(subtract(change, appliedTorque), momentum, dt))
  const residualWithoutGyro = length3(...subtract(changeWithoutGyro, appliedTorque))
  const size = Math.max(length3(...momentum), length3(...momentumBefore))
  const turn = Math.max(length3(...spin), length3(...spinBefore)) * dt
  const largest = Math.max(...inertia)
  // Lever arms are differences of positions, which have single precision.
  const lever =
    (2e-6 * length3(...read3(s, previousAt + stateAt.position)) +
      levers.position +
      (levers.hasSubsteps ? measurePointTravel(step, column) : 0)) *
    length3(...read3(step.impulse, 3 * column))
  const { errors, scene } = step
  const error =
    largest * num(errors.spinChange, column) +
    size * num(errors.rotation, column) +
    num(scene.inertiaErrors, column) * (length3(...change) + size * turn) +
    num(errors.torque, column)
  const rounding = 1e-7 + 1e-3 * size + 1e-5 * largest + (step.touching[column] === 1 ? lever : 0) + error
  const limit =
    rounding +
    tolerance * Math.max(length3(...appliedTorque), length3(...change)) +
    measureJointSlack(step, column) +
    Math.min(2 * anisotropy * turn ** 2, 0.5) * size
  const isExplained = residual > rounding && residualWithoutGyro < maxExplainedShare * residual
  if (!(residual > limit || isExplained)) return null
  return { value: residual, limit: limit, isGyroscopic: isExplained || residualWithoutGyro <= limit }
}

/** Removes the part that damping explains. `SpinDrifts` reports it. */
function removeDamping(residual: Point3, momentum: Point3, dt: number): Point3 {
  const square = dot3(momentum, momentum)
  const dampedShare =
    square > 0 ? Math.min(maxDamping * dt, Math.max(0, -dot3(residual, momentum) / square)) : 0
  return add(residual, momentum, dampedShare)
}

/** Returns an upper bound of the motion of contact points in the step, in m. */
function measurePointTravel(step: Step, column: number): number {
  const s = step.window.states.data
  const radius = length3(...(step.scene.extents[column] ?? [0, 0, 0]))
  const speeds = [getOffset(step, column), getOffsetBefore(step, column)].map(
    (at) => length3(...read3(s, at + stateAt.velocity)) + radius * length3(...read3(s, at + stateAt.spin)),
  )
  return Math.max(...speeds) * step.dt || 0
}

/** Returns the slack in N·m·s: torques rotate with the body, and a joint's ends differ by its error. */
function measureJointSlack(step: Step, column: number): number {
  const { joints, scene, dt, window } = step
  if (joints.isJointed[column] !== 1) return 0
  const impulse = length3(...read3(joints.impulse, 3 * column))
  const torque = length3(...read3(joints.torque, 3 * column))
  // Effective lever arm: torque divided by impulse.
  const leverLength = impulse > 0 ? torque / impulse : 0
  const turn = Math.max(
    ...[getOffset(step, column), getOffsetBefore(step, column)].map(
      (at) => length3(...read3(window.states.data, at + stateAt.spin)) * dt,
    ),
  )
  const group = scene.groupByColumn[column] ?? -1
  return (
    num(joints.drift, column) +
    2 * turn * torque +
    leverLength * (group < 0 ? 0 : getGroupTolerance(step, group))
  )
}

/** Measures free bodies of unknown inertia. */
function measureFreeSpin(step: Step, column: number): Excess | null {
  const s = step.window.states.data
  const [spin, before] = [
    readWorldSpin(s, getOffset(step, column)),
    readWorldSpin(s, getOffsetBefore(step, column)),
  ]
  let change = subtract(spin, before)
  const count = step.scene.bodies.length
  const energy = (step.row * count + column) * energyAt.width + energyAt.rotational
  const size = Math.max(length3(...spin), length3(...before))
  if (!Number.isNaN(num(step.window.energies.data, energy)) && length3(...before) > 1e-3) {
    const unit = before.map((part) => part / length3(...before)) as unknown as Point3
    const along = change[0] * unit[0] + change[1] * unit[1] + change[2] * unit[2]
    change = [change[0] - along * unit[0], change[1] - along * unit[1], change[2] - along * unit[2]]
  }
  const changeSize = length3(...change)
  const error = num(step.errors.spinChange, column) + size * num(step.errors.rotation, column)
  const limit = 1.2 * size * size * step.dt + 1e-3 + 1e-3 * size + error
  return changeSize > limit ? { value: changeSize, limit, isGyroscopic: false } : null
}

/** Returns R I R^T w. */
function applyInertia(rotation: Rotation, inertia: Point3, spin: Point3): Point3 {
  const local = rotateInverse(rotation, spin)
  return rotate(rotation, [inertia[0] * local[0], inertia[1] * local[1], inertia[2] * local[2]])
}

const subtract = (a: Point3, b: Point3): Point3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
