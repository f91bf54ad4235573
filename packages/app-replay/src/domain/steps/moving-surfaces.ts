/**
 * Finds surfaces such as those of conveyor belts (docs/laws.md, Contacts): friction accelerates a body along its slip,
 * which then remains constant.
 */
import type { BodyId } from '@causeway/recording'
import { add, dot3, type Point3 } from '../vector.ts'
import { length3, num } from './block.ts'
import { getMinSlip, getSlipError, readContactImpulse, readSlip } from './momentum.ts'
import type { MovingSurface, MovingSurfaces } from './motion.ts'
import type { Step } from './step.ts'
import type { Touch } from './touch.ts'

/** The slip remains within `maxChange` (relative) for `minSteps`. `load` and `fullFriction` are ratios to the load. */
const rule = { minSteps: 10, maxChange: 0.01, minSpeed: 0.9, load: 0.02, fullFriction: 0.9 } as const

/** Cosine of 60 degrees. */
export const alongCosine = 0.5

interface Drive {
  readonly first: number
  /** Largest speed at which friction drove the body, m/s. */
  speed: number
  constantSteps: number
}

export class SurfaceMeter implements MovingSurfaces {
  readonly #drives = new Map<number, Drive>()
  readonly #foundSurfaces = new Map<BodyId, MovingSurface & { steps: number }>()

  observe(step: Step): void {
    if (Number.isNaN(step.dt)) return
    for (const touch of step.touches) {
      const sign = getSurfaceSign(step, touch)
      if (sign !== 0 && touch.leverRows > 0) this.#observePair(step, touch, sign)
    }
  }

  get all(): readonly MovingSurface[] {
    return [...this.#foundSurfaces.values()]
  }

  has(bodies: readonly BodyId[]): boolean {
    return this.#foundSurfaces.size > 0 && bodies.some((body) => this.#foundSurfaces.has(body))
  }

  #observePair(step: Step, touch: Touch, sign: number): void {
    const drive = this.#drives.get(touch.key)
    const slip = readSlip(step, step.row, touch)
    const speed = length3(...slip)
    if (!(speed > getMinSlip(step, touch))) return
    const before = length3(...readSlip(step, step.row - 1, touch))
    const friction = readFriction(step, touch)
    if (isAlong(friction, slip, rule.load)) {
      if (drive === undefined) this.#drives.set(touch.key, { first: step.frame, speed, constantSteps: 0 })
      else drive.speed = Math.max(drive.speed, speed)
      return
    }
    if (drive === undefined || speed < rule.minSpeed * drive.speed) return
    // Full friction against the slip shows a surface at rest.
    if (isAlong(friction, add([0, 0, 0], slip, -1), rule.fullFriction * touch.maxFriction)) return
    if (Math.abs(speed - before) > rule.maxChange * speed + getSlipError(step, touch)) return
    drive.constantSteps += 1
    if (drive.constantSteps < rule.minSteps) return
    const body = sign > 0 ? touch.b : touch.a
    const foundSurface = this.#foundSurfaces.get(body) ?? createSurface(body, drive.first)
    this.#foundSurfaces.set(body, foundSurface)
    foundSurface.steps += 1
    foundSurface.last = step.frame
    foundSurface.speed += (speed - foundSurface.speed) / foundSurface.steps
    const { velocity, steps } = foundSurface
    foundSurface.velocity = add(add([0, 0, 0], velocity, 1 - 1 / steps), slip, sign / steps)
  }
}

const createSurface = (body: BodyId, first: number): MovingSurface & { steps: number } => ({
  body,
  first,
  last: first,
  velocity: [0, 0, 0],
  speed: 0,
  steps: 0,
})

/** Returns 1 if only the second body lacks a mass, -1 if only the first does, otherwise 0. */
function getSurfaceSign({ scene }: Step, { columnA, columnB }: Touch): number {
  const hasMass = (column: number): boolean => column >= 0 && num(scene.masses, column) > 0
  if (!hasMass(columnB)) return hasMass(columnA) ? 1 : 0
  return hasMass(columnA) ? 0 : -1
}

/** Both impulses have the same unit. */
interface Friction {
  readonly across: Point3
  readonly load: number
}

/** Returns the friction on the first body, derived from the motion across the normal if not recorded. */
function readFriction(step: Step, touch: Touch): Friction {
  const { tangent, normalImpulse } = touch
  if (!Number.isNaN(tangent[0])) return { across: tangent, load: length3(...normalImpulse) }
  const isFirst = touch.columnA >= 0 && num(step.scene.masses, touch.columnA) > 0
  const column = isFirst ? touch.columnA : touch.columnB
  const isShared = step.touches.some(
    (otherTouch) => otherTouch !== touch && (otherTouch.columnA === column || otherTouch.columnB === column),
  )
  if (isShared) return { across: [0, 0, 0], load: 0 }
  const contactImpulse = readContactImpulse(step, column)
  const load = dot3(contactImpulse, touch.normal)
  const across = add(contactImpulse, touch.normal, -load)
  return { across: isFirst ? across : add([0, 0, 0], across, -1), load: Math.abs(load) }
}

/** Whether friction exceeds `share` times the load and acts along `direction`. */
function isAlong({ across, load }: Friction, direction: Point3, share: number): boolean {
  const size = length3(...across)
  return size > share * load && dot3(across, direction) > alongCosine * size * length3(...direction)
}
