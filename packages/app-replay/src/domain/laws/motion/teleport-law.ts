/**
 * Positions follow velocities: x(N) - x(N-1) lies between v(N-1) dt and v(N) dt. Integrators differ by at most |dv|
 * dt, and by g dt^2 if they apply gravity before a change of velocity; position corrections of contacts and joints by the overlap. A jump is more than 1 mm beyond that, or 11 mm if the body has
 * joints or is or may be in contact. A jump in 10 consecutive frames or more is a `velocity_mismatch`, from the first frame since which the
 * motion was beyond both velocities by more than 1 %. It says if the velocity is the same in all frames.
 */

import { type BodyId, stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { length3, num, read3 } from '../../steps/block.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import { add, dot3, type Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'

/** m */
const jumpTolerance = { free: 1e-3, contact: 0.011 } as const

/** m², of motion that agrees with the velocity. */
const minOff = 1e-12

/** Minimum frames of a velocity that disagrees with the motion. */
const lasting = 10

export function teleportLaw(): Law {
  const jumps = new RunCollector()
  /** By column: the first frame since which the motion disagrees, 0 if it agrees. */
  let since = new Float64Array()
  const sinceByRun = new Map<Run, number>()
  const constant = new ConstantVelocities()
  return {
    observe(step) {
      const { scene, window, frame, moved } = step
      if (since.length === 0) since = new Float64Array(scene.bodies.length)
      constant.observe(step)
      if (Number.isNaN(step.dt)) return
      const s = window.states.data
      for (let column = 0; column < scene.bodies.length; column++) {
        const at = step.at(column) + stateAt.position
        const v = at - stateAt.position + stateAt.velocity
        const vx = num(s, v)
        const vy = num(s, v + 1)
        const vz = num(s, v + 2)
        const dx = num(moved, 3 * column)
        const dy = num(moved, 3 * column + 1)
        const dz = num(moved, 3 * column + 2)
        const ox = dx - vx * step.dt
        const oy = dy - vy * step.dt
        const oz = dz - vz * step.dt
        if (ox * ox + oy * oy + oz * oz < minOff) since[column] = 0
        else if (isBeyond(step, column, [ox, oy, oz])) since[column] ||= frame
        else since[column] = 0
        // Most bodies continue here, without computing a square root.
        if (!(ox * ox + oy * oy + oz * oz > jumpTolerance.free ** 2)) continue
        let off = length3(ox, oy, oz)
        if (step.dt !== scene.dt)
          off = Math.min(off, length3(dx - vx * scene.dt, dy - vy * scene.dt, dz - vz * scene.dt))
        const u = step.atBefore(column) + stateAt.velocity
        const change = length3(vx - num(s, u), vy - num(s, u + 1), vz - num(s, u + 2))
        const isTouching =
          !scene.hasContacts || step.touching[column] === 1 || step.touchedBefore[column] === 1
        const isCorrected = isTouching || step.joints.isJointed[column] === 1
        const [x, y, z] = [num(s, at), num(s, at + 1), num(s, at + 2)]
        let limit = 1.05 * (change + (scene.g || 0) * step.dt) * step.dt + 1e-6 * length3(x, y, z)
        limit += isCorrected ? jumpTolerance.contact : jumpTolerance.free
        limit += 2 * num(step.joints.error, column)
        const body = scene.bodies[column] ?? 0
        if (!(off > limit)) continue
        if (isTouching)
          for (const { columnA, columnB, depth } of step.touches)
            if ((columnA === column || columnB === column) && depth > 0) limit += 2 * depth
        if (!(off > limit)) continue
        const run = jumps.add(body, frame, { value: off, limit }, { bodies: [body], pair: null })
        if (run.first === frame) sinceByRun.set(run, num(since, column) || frame)
      }
    },
    findings: () =>
      jumps.runs.map((run) => {
        const options = { unit: 'm', confidence: 0.95 } as const
        if (run.frames < lasting) return createFinding(run, { ...options, kind: 'teleport' })
        const frames = constant.count(run.bodies[0] ?? Number.NaN)
        const text = `moves differently from its velocity, which is the same in all ${frames} frames: was a reference recorded instead of a copy?`
        return createFinding(
          { ...run, first: sinceByRun.get(run) ?? run.first },
          { ...options, kind: 'velocity_mismatch', ...(frames > 0 && { text }) },
        )
      }),
  }
}

/** Whether the motion of a free body is not between its velocities before and after, by 1 % of the motion. `off` is moved - v dt. */
function isBeyond(step: Step, column: number, off: Point3): boolean {
  const { scene, window, dt, moved } = step
  if (step.touching[column] === 1 || step.joints.isJointed[column] === 1) return false
  const was = read3(window.states.data, step.atBefore(column) + stateAt.velocity)
  const motion = read3(moved, 3 * column)
  const before = add(motion, was, -dt)
  const least = Math.min(length3(...off), length3(...before))
  // Inside the sphere around both ends, the motion is between them.
  return dt === scene.dt && dot3(off, before) > 0 && least > 0.01 * length3(...motion)
}

/** Counts the frames in which the velocity of a body is the same. */
class ConstantVelocities {
  readonly #first = new Map<BodyId, { readonly velocity: Point3; frames: number; isSame: boolean }>()

  observe({ scene, window, at }: Step): void {
    const s = window.states.data
    for (let column = 0; column < scene.bodies.length; column++) {
      const body = scene.bodies[column] ?? 0
      const first = this.#first.get(body)
      const v = at(column) + stateAt.velocity
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

  /** Returns the number of frames, 0 if the velocity is not the same in all. */
  count(body: BodyId): number {
    const found = this.#first.get(body)
    return found?.isSame ? found.frames : 0
  }
}
