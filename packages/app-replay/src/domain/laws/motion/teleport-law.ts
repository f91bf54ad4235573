/**
 * Law `velocity_matches_motion` (docs/laws.md, Motion). A `velocity_mismatch` begins when the motion begins to exceed
 * both velocities by more than 1 %.
 */

import { type BodyId, stateAt } from '@causeway/recording'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { measureSeparation } from '../../shapes/separation.ts'
import { getOffset, getOffsetBefore, length3, num, read3 } from '../../steps/block.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Scene } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import { add, dot3, type Point3 } from '../../vector.ts'
import { moveSolids, type PlacedSolid, placeSolids, readSolidPose } from '../contact/placed-solid.ts'
import type { Law } from '../law.ts'

/** m */
const jumpTolerance = { free: 1e-3, contact: 0.011 } as const

/** In m². Smaller squared deviations agree with the velocity. */
const minSquaredDeviation = 1e-12

/** Maximum relative difference between time steps of the same clock. */
const clockTolerance = 1e-3

const minMismatchFrames = 10

export const teleportLaw = (): Law => new TeleportLaw()

class TeleportLaw implements Law {
  readonly #jumps = new RunCollector()
  /** First frame of the current disagreement, by column; 0 if motion and velocity agree. */
  #disagreementStart = new Float64Array()
  readonly #startByRun = new Map<Run, number>()
  readonly #constantVelocities = new ConstantVelocities()
  readonly #scaledVelocities = new ScaledVelocities()
  #placed: readonly PlacedSolid[] | undefined
  /** Motions that may end at a surface. The next frame decides. */
  readonly #possibleStops: Jump[] = []
  /** Frame of the last motion that ended at a surface, by column. */
  readonly #lastSurfaceFrame = new Map<number, number>()

  observe(step: Step): void {
    const { scene } = step
    if (this.#disagreementStart.length === 0) this.#disagreementStart = new Float64Array(scene.bodies.length)
    this.#constantVelocities.observe(step)
    for (const jump of this.#possibleStops.splice(0))
      if (step.touching[jump.column] === 0) this.#add(step, jump)
    if (Number.isNaN(step.dt)) return
    for (let column = 0; column < scene.bodies.length; column++) this.#observeBody(step, column)
  }

  findings(): readonly Finding[] {
    const jumps = this.#jumps.runs
    return [
      ...this.#scaledVelocities.runs
        .filter(({ bodies }) => !jumps.some((run) => run.bodies[0] === bodies[0]))
        .map((run) => createFinding(run, { kind: 'velocity_mismatch', unit: 'm', confidence: 0.9 })),
      ...jumps.map((run) => {
        const options = { unit: 'm', confidence: 0.95 } as const
        if (run.frames < minMismatchFrames) return createFinding(run, { ...options, kind: 'teleport' })
        const [body = Number.NaN] = run.bodies
        const frames = this.#constantVelocities.countFrames(body)
        if (this.#constantVelocities.isAnimated(body))
          return createFinding(run, { ...options, kind: 'velocity_mismatch', ...animatedFinding })
        const text = `moves differently from its velocity, which is the same in all ${frames} frames: was a reference recorded instead of a copy?`
        return createFinding(
          { ...run, first: this.#startByRun.get(run) ?? run.first },
          { ...options, kind: 'velocity_mismatch', ...(frames > 0 && { text }) },
        )
      }),
    ]
  }

  #add({ scene }: Step, { column, frame, value, limit, start }: Jump): void {
    const body = scene.bodies[column] ?? 0
    const run = this.#jumps.add(body, frame, { value, limit }, { bodies: [body], pair: null })
    if (run.first === frame) this.#startByRun.set(run, start)
  }

  #observeBody(step: Step, column: number): void {
    const { scene, window, frame, displacement } = step
    const s = window.states.data
    const at = getOffset(step, column) + stateAt.position
    const v = at - stateAt.position + stateAt.velocity
    const vx = num(s, v)
    const vy = num(s, v + 1)
    const vz = num(s, v + 2)
    const dx = num(displacement, 3 * column)
    const dy = num(displacement, 3 * column + 1)
    const dz = num(displacement, 3 * column + 2)
    const ox = dx - vx * step.dt
    const oy = dy - vy * step.dt
    const oz = dz - vz * step.dt
    const isDeviating =
      ox * ox + oy * oy + oz * oz >= minSquaredDeviation && exceedsVelocities(step, column, [ox, oy, oz])
    if (isDeviating) this.#disagreementStart[column] ||= frame
    else this.#disagreementStart[column] = 0
    const isScaled = scene.hasContacts ? step.touching[column] === 1 : isDeviating
    if (isScaled && ox * ox + oy * oy + oz * oz >= minSquaredDeviation)
      this.#scaledVelocities.observe(step, column)
    if (!(ox * ox + oy * oy + oz * oz > jumpTolerance.free ** 2)) return
    let deviation = length3(ox, oy, oz)
    if (step.dt !== scene.dt)
      deviation = Math.min(deviation, length3(dx - vx * scene.dt, dy - vy * scene.dt, dz - vz * scene.dt))
    const u = getOffsetBefore(step, column) + stateAt.velocity
    const change = length3(vx - num(s, u), vy - num(s, u + 1), vz - num(s, u + 2))
    const [x, y, z] = [num(s, at), num(s, at + 1), num(s, at + 2)]
    let slack = 1.05 * (change + (scene.g || 0) * step.dt) * step.dt + 1e-6 * length3(x, y, z)
    slack += 2 * num(step.joints.error, column) + getMotionError(step, column)
    this.#check(step, { column, deviation, across: measureAcross(step, column, [ox, oy, oz]), slack })
  }

  /** `deviation` is |displacement - v dt| in m, `slack` the part that is explained without contact. */
  #check(step: Step, { column, deviation, across, slack }: MotionDeviation): void {
    const { scene, frame, touches } = step
    const isTouching = !scene.hasContacts || step.touching[column] === 1 || step.touchedBefore[column] === 1
    const isCorrected = isTouching || step.joints.isJointed[column] === 1
    const start = num(this.#disagreementStart, column) || frame
    const freeLimit = slack + jumpTolerance.free
    let limit = slack + (isCorrected ? jumpTolerance.contact : jumpTolerance.free)
    if (!(deviation > limit)) {
      if (across > freeLimit && !isShortened(step, column))
        this.#add(step, { column, frame, value: across, limit: freeLimit, start })
      return
    }
    if (isTouching)
      for (const { columnA, columnB, depth } of touches)
        if ((columnA === column || columnB === column) && depth > 0) limit += 2 * depth
    if (!scene.hasContacts) {
      this.#placed ??= placeSolids(scene)
      limit += 2 * measureOverlap(step, column, this.#placed)
    }
    if (!(deviation > limit) || (!scene.hasContacts && this.#endsAtSurface(step, column))) return
    const jump = { column, frame, value: deviation, limit, start }
    if (!isTouching && isShortened(step, column)) this.#possibleStops.push(jump)
    else this.#add(step, jump)
  }

  /** Whether a surface stops the body. Rejects frozen bodies, which seem to stop repeatedly. */
  #endsAtSurface(step: Step, column: number): boolean {
    if (!isShortened(step, column) || !isAtSurface(step, column, this.#placed ?? [])) return false
    const isRepeated = this.#lastSurfaceFrame.get(column) === step.frame - 1
    this.#lastSurfaceFrame.set(column, step.frame)
    return !isRepeated
  }
}

interface MotionDeviation {
  readonly column: number
  readonly deviation: number
  readonly across: number
  readonly slack: number
}

/** Whether the motion exceeds both velocities by over 1 %. `deviation` is displacement - v dt. */
function exceedsVelocities(step: Step, column: number, deviation: Point3): boolean {
  const { scene, window, dt, displacement } = step
  if (step.touching[column] === 1 || step.joints.isJointed[column] === 1) return false
  const previousVelocity = read3(window.states.data, getOffsetBefore(step, column) + stateAt.velocity)
  const motion = read3(displacement, 3 * column)
  const before = add(motion, previousVelocity, -dt)
  const minDeviation = Math.min(length3(...deviation), length3(...before))
  const slack = 0.01 * length3(...motion) + getMotionError(step, column)
  // Within the sphere whose diameter joins u dt and v dt, the motion is between both velocities.
  return Math.abs(dt / scene.dt - 1) < clockTolerance && dot3(deviation, before) > 0 && minDeviation > slack
}

interface Jump {
  readonly column: number
  readonly frame: number
  /** m */
  readonly value: number
  readonly limit: number
  readonly start: number
}

/** Whether the motion is along v dt but shorter, as if continuous collision detection stopped it. */
function isShortened(step: Step, column: number): boolean {
  const { window, displacement, dt, scene } = step
  const velocity = read3(window.states.data, getOffset(step, column) + stateAt.velocity)
  const motion = read3(displacement, 3 * column)
  const speed = length3(...velocity)
  const along = dot3(motion, velocity) / speed
  const across = length3(...add(motion, velocity, -along / speed))
  return along >= 0 && along < speed * dt && across <= jumpTolerance.free + scene.g * dt * dt
}

/** Returns the part of `deviation` across all contact normals in m; 0 unless all forces are recorded contacts. */
function measureAcross(
  { touches, touching, joints, scene }: Step,
  column: number,
  deviation: Point3,
): number {
  if (touching[column] !== 1 || joints.isJointed[column] === 1 || scene.hasSubsteps) return 0
  const basis: Point3[] = []
  let remaining = deviation
  for (const { columnA, columnB, normals } of touches) {
    if (columnA !== column && columnB !== column) continue
    for (let i = 0; i < normals.count; i++) {
      let normal = read3(normals.vectors, 3 * i)
      for (const unit of basis) normal = add(normal, unit, -dot3(normal, unit))
      const size = length3(...normal)
      if (!(size > minNormalSine)) continue
      const unit = add([0, 0, 0], normal, 1 / size)
      basis.push(unit)
      remaining = add(remaining, unit, -dot3(remaining, unit))
    }
  }
  return basis.length === 0 ? 0 : length3(...remaining)
}

/** Sine of the minimum angle between independent normals. */
const minNormalSine = 0.05

/** Returns the rounding error in m. */
const getMotionError = ({ errors, dt }: Step, column: number): number =>
  num(errors.displacement, column) + num(errors.velocityChange, column) * dt

/** Returns the overlap before the step in m; 0 if unknown. */
function measureOverlap(step: Step, column: number, placed: readonly PlacedSolid[]): number {
  moveSolids(step, placed)
  const bodySolid = placed.find((solid) => solid.column === column)
  if (bodySolid?.pose == null) return 0
  let maxDepth = 0
  for (const other of placed)
    if (other !== bodySolid && other.pose !== null)
      maxDepth = Math.max(
        maxDepth,
        -measureSeparation(bodySolid.solid, bodySolid.pose, other.solid, other.pose) || 0,
      )
  return maxDepth
}

/** Uses the poses after the step. */
function isAtSurface(step: Step, column: number, placed: readonly PlacedSolid[]): boolean {
  const poses = placed.map((solid) => (solid.column < 0 ? solid.pose : readSolidPose(step, solid, step.row)))
  const index = placed.findIndex((solid) => solid.column === column)
  const pose = poses[index]
  return placed.some((other, i) => {
    const [solid, otherPose] = [placed[index]?.solid, poses[i]]
    if (i === index || solid === undefined || pose == null || otherPose == null) return false
    return measureSeparation(solid, pose, other.solid, otherPose) < surfaceGap
  })
}

/** m */
const surfaceGap = 0.01

/** `maxChange` is relative to the factor, `maxAcross` to the difference, `integrator` to |dv|. */
const scaleRule = { maxChange: 0.01, maxAcross: 0.05, integrator: 0.55 } as const

/** Finds motions that are a constant multiple of v dt. */
class ScaledVelocities {
  readonly #last = new Map<number, { readonly factor: number; readonly frame: number }>()
  readonly #collector = new RunCollector()

  /** The motion must exceed both velocities. */
  observe(step: Step, column: number): void {
    const { frame, dt, scene, window, displacement } = step
    const last = this.#last.get(column)
    const s = window.states.data
    const [v, u] = [getOffset(step, column), getOffsetBefore(step, column)].map((at) =>
      read3(s, at + stateAt.velocity),
    ) as [Point3, Point3]
    const mean = add(add([0, 0, 0], u, 0.5), v, 0.5)
    const size = length3(...mean)
    const deviation = add(read3(displacement, 3 * column), mean, -dt)
    const along = dot3(deviation, mean) / size
    const across = length3(...add(deviation, mean, -along / size))
    const slack = scaleRule.integrator * length3(...add(v, u, -1)) * dt + getMotionError(step, column)
    // A contact can cancel the velocity that gravity adds.
    if (!(size > 4 * scene.g * dt) || !(Math.abs(along) > 2 * slack)) return
    if (!(across < scaleRule.maxAcross * Math.abs(along) + slack)) return
    const factor = 1 + along / (size * dt)
    this.#last.set(column, { factor, frame })
    if (last?.frame !== frame - 1 || Math.abs(factor / last.factor - 1) > scaleRule.maxChange) return
    const body = scene.bodies[column] ?? 0
    const limit = 0.01 * Math.abs(factor) * size * dt
    this.#collector.add(body, frame, { value: length3(...deviation), limit }, { bodies: [body], pair: null })
  }

  get runs(): readonly Run[] {
    return this.#collector.runs.filter(({ frames }) => frames >= minMismatchFrames)
  }
}

const animatedFinding = {
  severity: 'info',
  text: 'has no mass, and moves with a recorded velocity of 0, as animated bodies do',
} as const

class ConstantVelocities {
  readonly #first = new Map<BodyId, { readonly velocity: Point3; frames: number; isSame: boolean }>()
  #scene: Scene | undefined

  /** Whether the velocity is 0 in all frames, and the mass is unknown. */
  isAnimated(body: BodyId): boolean {
    const mass = num(this.#scene?.masses ?? new Float64Array(), this.#scene?.columnById.get(body) ?? -1)
    const isZero = this.#first.get(body)?.velocity.every((part) => part === 0) === true
    return Number.isNaN(mass) && isZero && this.countFrames(body) > 0
  }

  observe(step: Step): void {
    const { scene, window } = step
    this.#scene = scene
    const s = window.states.data
    for (let column = 0; column < scene.bodies.length; column++) {
      const body = scene.bodies[column] ?? 0
      const first = this.#first.get(body)
      const v = getOffset(step, column) + stateAt.velocity
      if (first === undefined) {
        const velocity = read3(s, v)
        this.#first.set(body, { velocity, frames: 1, isSame: velocity.every(Number.isFinite) })
      } else if (first.isSame) {
        const { velocity } = first
        first.isSame =
          num(s, v) === velocity[0] && num(s, v + 1) === velocity[1] && num(s, v + 2) === velocity[2]
        first.frames += 1
      }
    }
  }

  /** Returns the number of frames; 0 if the velocity is not constant. */
  countFrames(body: BodyId): number {
    const constantVelocity = this.#first.get(body)
    return constantVelocity?.isSame ? constantVelocity.frames : 0
  }
}
