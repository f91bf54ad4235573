/**
 * Law `velocity_matches_motion` (docs/laws.md, Motion). A `velocity_mismatch` begins with the first frame since which
 * the motion has exceeded both velocities by more than 1 %.
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
const minOff = 1e-12

/** Maximum share by which steps of the same clock differ. */
const clockTolerance = 1e-3

/** Minimum number of frames of a mismatch. */
const lasting = 10

export const teleportLaw = (): Law => new TeleportLaw()

class TeleportLaw implements Law {
  readonly #jumps = new RunCollector()
  /** First frame of the current disagreement, by column; 0 if motion and velocity agree. */
  #since = new Float64Array()
  readonly #sinceByRun = new Map<Run, number>()
  readonly #constant = new ConstantVelocities()
  readonly #scaled = new ScaledVelocities()
  #placed: readonly PlacedSolid[] | undefined
  /** Motions that may end at a surface. The next frame decides. */
  readonly #stopped: Jump[] = []
  /** Frame of the last motion that ended at a surface, by column. */
  readonly #atSurface = new Map<number, number>()

  observe(step: Step): void {
    const { scene } = step
    if (this.#since.length === 0) this.#since = new Float64Array(scene.bodies.length)
    this.#constant.observe(step)
    for (const jump of this.#stopped.splice(0)) if (step.touching[jump.column] === 0) this.#add(step, jump)
    if (Number.isNaN(step.dt)) return
    for (let column = 0; column < scene.bodies.length; column++) this.#observeBody(step, column)
  }

  findings(): readonly Finding[] {
    const jumps = this.#jumps.runs
    return [
      ...this.#scaled.runs
        .filter(({ bodies }) => !jumps.some((run) => run.bodies[0] === bodies[0]))
        .map((run) => createFinding(run, { kind: 'velocity_mismatch', unit: 'm', confidence: 0.9 })),
      ...jumps.map((run) => {
        const options = { unit: 'm', confidence: 0.95 } as const
        if (run.frames < lasting) return createFinding(run, { ...options, kind: 'teleport' })
        const [body = Number.NaN] = run.bodies
        const frames = this.#constant.count(body)
        if (this.#constant.isAnimated(body))
          return createFinding(run, { ...options, kind: 'velocity_mismatch', ...animated })
        const text = `moves differently from its velocity, which is the same in all ${frames} frames: was a reference recorded instead of a copy?`
        return createFinding(
          { ...run, first: this.#sinceByRun.get(run) ?? run.first },
          { ...options, kind: 'velocity_mismatch', ...(frames > 0 && { text }) },
        )
      }),
    ]
  }

  #add({ scene }: Step, { column, frame, value, limit, since }: Jump): void {
    const body = scene.bodies[column] ?? 0
    const run = this.#jumps.add(body, frame, { value, limit }, { bodies: [body], pair: null })
    if (run.first === frame) this.#sinceByRun.set(run, since)
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
    const isOff = ox * ox + oy * oy + oz * oz >= minOff && isBeyond(step, column, [ox, oy, oz])
    if (isOff) this.#since[column] ||= frame
    else this.#since[column] = 0
    const isScaled = scene.hasContacts ? step.touching[column] === 1 : isOff
    if (isScaled && ox * ox + oy * oy + oz * oz >= minOff) this.#scaled.observe(step, column)
    if (!(ox * ox + oy * oy + oz * oz > jumpTolerance.free ** 2)) return
    let off = length3(ox, oy, oz)
    if (step.dt !== scene.dt)
      off = Math.min(off, length3(dx - vx * scene.dt, dy - vy * scene.dt, dz - vz * scene.dt))
    const u = getOffsetBefore(step, column) + stateAt.velocity
    const change = length3(vx - num(s, u), vy - num(s, u + 1), vz - num(s, u + 2))
    const [x, y, z] = [num(s, at), num(s, at + 1), num(s, at + 2)]
    let slack = 1.05 * (change + (scene.g || 0) * step.dt) * step.dt + 1e-6 * length3(x, y, z)
    slack += 2 * num(step.joints.error, column) + getMotionError(step, column)
    this.#check(step, { column, off, across: measureAcross(step, column, [ox, oy, oz]), slack })
  }

  /** `off` is the length of moved - v dt. `slack` is the part that is explained without contact. Both are in m. */
  #check(step: Step, { column, off, across, slack }: OffMotion): void {
    const { scene, frame, touches } = step
    const isTouching = !scene.hasContacts || step.touching[column] === 1 || step.touchedBefore[column] === 1
    const isCorrected = isTouching || step.joints.isJointed[column] === 1
    const since = num(this.#since, column) || frame
    const freeLimit = slack + jumpTolerance.free
    let limit = slack + (isCorrected ? jumpTolerance.contact : jumpTolerance.free)
    if (!(off > limit)) {
      if (across > freeLimit && !isShortened(step, column))
        this.#add(step, { column, frame, value: across, limit: freeLimit, since })
      return
    }
    if (isTouching)
      for (const { columnA, columnB, depth } of touches)
        if ((columnA === column || columnB === column) && depth > 0) limit += 2 * depth
    if (!scene.hasContacts) {
      this.#placed ??= placeSolids(scene)
      limit += 2 * measureOverlap(step, column, this.#placed)
    }
    if (!(off > limit) || (!scene.hasContacts && this.#endsAtSurface(step, column))) return
    const jump = { column, frame, value: off, limit, since }
    if (!isTouching && isShortened(step, column)) this.#stopped.push(jump)
    else this.#add(step, jump)
  }

  /** Rejects frozen bodies, which stay at a surface although they have a velocity. */
  #endsAtSurface(step: Step, column: number): boolean {
    if (!isShortened(step, column) || !isAtSurface(step, column, this.#placed ?? [])) return false
    const isRepeated = this.#atSurface.get(column) === step.frame - 1
    this.#atSurface.set(column, step.frame)
    return !isRepeated
  }
}

interface OffMotion {
  readonly column: number
  readonly off: number
  readonly across: number
  readonly slack: number
}

/** Whether the motion exceeds both velocities by over 1 %. `off` is moved - v dt. */
function isBeyond(step: Step, column: number, off: Point3): boolean {
  const { scene, window, dt, displacement } = step
  if (step.touching[column] === 1 || step.joints.isJointed[column] === 1) return false
  const was = read3(window.states.data, getOffsetBefore(step, column) + stateAt.velocity)
  const motion = read3(displacement, 3 * column)
  const before = add(motion, was, -dt)
  const least = Math.min(length3(...off), length3(...before))
  const slack = 0.01 * length3(...motion) + getMotionError(step, column)
  // Within the sphere whose diameter joins u dt and v dt, the motion is between both velocities.
  return Math.abs(dt / scene.dt - 1) < clockTolerance && dot3(off, before) > 0 && least > slack
}

interface Jump {
  readonly column: number
  readonly frame: number
  /** m */
  readonly value: number
  readonly limit: number
  readonly since: number
}

/** Whether the motion is a part of v dt, as when continuous collision detection stops a body at a surface. */
function isShortened(step: Step, column: number): boolean {
  const { window, displacement, dt, scene } = step
  const velocity = read3(window.states.data, getOffset(step, column) + stateAt.velocity)
  const motion = read3(displacement, 3 * column)
  const speed = length3(...velocity)
  const along = dot3(motion, velocity) / speed
  const across = length3(...add(motion, velocity, -along / speed))
  return along >= 0 && along < speed * dt && across <= jumpTolerance.free + scene.g * dt * dt
}

/** Returns the part of `off` across all contact normals in m; 0 unless all forces are recorded contacts. */
function measureAcross({ touches, touching, joints, scene }: Step, column: number, off: Point3): number {
  if (touching[column] !== 1 || joints.isJointed[column] === 1 || scene.hasSubsteps) return 0
  const basis: Point3[] = []
  let rest = off
  for (const { columnA, columnB, normals } of touches) {
    if (columnA !== column && columnB !== column) continue
    for (let i = 0; i < normals.count; i++) {
      let normal = read3(normals.vectors, 3 * i)
      for (const one of basis) normal = add(normal, one, -dot3(normal, one))
      const size = length3(...normal)
      if (!(size > minNormal)) continue
      const unit = add([0, 0, 0], normal, 1 / size)
      basis.push(unit)
      rest = add(rest, unit, -dot3(rest, unit))
    }
  }
  return basis.length === 0 ? 0 : length3(...rest)
}

/** Sine of the minimum angle between independent normals. */
const minNormal = 0.05

/** Returns the rounding error in m. */
const getMotionError = ({ errors, dt }: Step, column: number): number =>
  num(errors.displacement, column) + num(errors.velocityChange, column) * dt

/** Returns the overlap before the step in m; 0 if unknown. */
function measureOverlap(step: Step, column: number, placed: readonly PlacedSolid[]): number {
  moveSolids(step, placed)
  const own = placed.find((one) => one.column === column)
  if (own?.pose == null) return 0
  let deepest = 0
  for (const other of placed)
    if (other !== own && other.pose !== null)
      deepest = Math.max(deepest, -measureSeparation(own.solid, own.pose, other.solid, other.pose) || 0)
  return deepest
}

/** Whether the body's shape is near another shape after the step. */
function isAtSurface(step: Step, column: number, placed: readonly PlacedSolid[]): boolean {
  const poses = placed.map((one) => (one.column < 0 ? one.pose : readSolidPose(step, one, step.row)))
  const own = placed.findIndex((one) => one.column === column)
  const pose = poses[own]
  return placed.some((other, i) => {
    const [solid, otherPose] = [placed[own]?.solid, poses[i]]
    if (i === own || solid === undefined || pose == null || otherPose == null) return false
    return measureSeparation(solid, pose, other.solid, otherPose) < surfaceGap
  })
}

/** m */
const surfaceGap = 0.01

/** `change` is relative, `across` a share of the difference, `integrator` a share of |dv|. */
const scaleRule = { change: 0.01, across: 0.05, integrator: 0.55 } as const

/** Finds motions that are a constant multiple of v dt. */
class ScaledVelocities {
  readonly #last = new Map<number, { readonly factor: number; readonly frame: number }>()
  readonly #collector = new RunCollector()

  /** Adds a motion that exceeds both velocities. */
  observe(step: Step, column: number): void {
    const { frame, dt, scene, window, displacement } = step
    const last = this.#last.get(column)
    const s = window.states.data
    const [v, u] = [getOffset(step, column), getOffsetBefore(step, column)].map((at) =>
      read3(s, at + stateAt.velocity),
    ) as [Point3, Point3]
    const mean = add(add([0, 0, 0], u, 0.5), v, 0.5)
    const size = length3(...mean)
    const off = add(read3(displacement, 3 * column), mean, -dt)
    const along = dot3(off, mean) / size
    const across = length3(...add(off, mean, -along / size))
    const slack = scaleRule.integrator * length3(...add(v, u, -1)) * dt + getMotionError(step, column)
    // A contact can cancel the velocity that gravity adds.
    if (!(size > 4 * scene.g * dt) || !(Math.abs(along) > 2 * slack)) return
    if (!(across < scaleRule.across * Math.abs(along) + slack)) return
    const factor = 1 + along / (size * dt)
    this.#last.set(column, { factor, frame })
    if (last?.frame !== frame - 1 || Math.abs(factor / last.factor - 1) > scaleRule.change) return
    const body = scene.bodies[column] ?? 0
    const limit = 0.01 * Math.abs(factor) * size * dt
    this.#collector.add(body, frame, { value: length3(...off), limit }, { bodies: [body], pair: null })
  }

  get runs(): readonly Run[] {
    return this.#collector.runs.filter(({ frames }) => frames >= lasting)
  }
}

const animated = {
  severity: 'info',
  text: 'has no mass, and moves with a recorded velocity of 0, as animated bodies do',
} as const

class ConstantVelocities {
  readonly #first = new Map<BodyId, { readonly velocity: Point3; frames: number; isSame: boolean }>()
  #scene: Scene | undefined

  /** Whether the velocity is 0 in all frames, and the mass is unknown. */
  isAnimated(body: BodyId): boolean {
    const mass = num(this.#scene?.masses ?? new Float64Array(), this.#scene?.columnById.get(body) ?? -1)
    const isStill = this.#first.get(body)?.velocity.every((part) => part === 0) === true
    return Number.isNaN(mass) && isStill && this.count(body) > 0
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

  /** Returns 0 if the velocity is not constant. */
  count(body: BodyId): number {
    const found = this.#first.get(body)
    return found?.isSame ? found.frames : 0
  }
}
