import { type BodyId, type FrameWindow, stateAt } from '@causeway/recording'
import type { Point3 } from '../vector.ts'
import { length3, num, read3 } from './block.ts'

interface MotionStep {
  readonly scene: { readonly bodies: readonly number[] }
  readonly window: FrameWindow
  readonly row: number
  readonly recordedDt: number
  readonly displacement: Float64Array
  readonly distance: Float64Array
}

export interface MovingSurface {
  readonly body: BodyId
  readonly first: number
  last: number
  /** Mean velocity of bodies that stay on the surface, m/s. */
  velocity: Point3
  /** Mean speed. If the surface turns, it exceeds the length of `velocity`. */
  speed: number
}

/** Surfaces that drive bodies although their motion is not recorded. */
export interface MovingSurfaces {
  readonly all: readonly MovingSurface[]
  /** Whether one of the bodies has such a surface. */
  has(bodies: readonly BodyId[]): boolean
}

/**
 * Why a frame does not follow from the previous one: neither time nor bodies move (`pause`), or all bodies have their
 * first states again (`reset`).
 */
export type Breach = 'pause' | 'reset'

export class BreachFinder {
  #first: Float64Array | undefined

  find(step: MotionStep): Breach | null {
    const { window, row, recordedDt, scene } = step
    const width = scene.bodies.length * stateAt.width
    const states = window.states.data
    const before = states.subarray((row - 1) * width, row * width)
    this.#first ??= before.slice()
    if (hasSameNumbers(states, row * width, before)) return recordedDt === 0 ? 'pause' : null
    return hasSameNumbers(states, row * width, this.#first) && hasJump(step) ? 'reset' : null
  }
}

/** m */
const minJump = 1e-3

/** Whether a body moved more than twice as far as its velocities explain. */
function hasJump({ scene, window, row, recordedDt, distance }: MotionStep): boolean {
  const count = scene.bodies.length
  const readSpeed = (at: number): number =>
    length3(...read3(window.states.data, at * stateAt.width + stateAt.velocity)) || 0
  return scene.bodies.some((_, column) => {
    const at = row * count + column
    const distanceBound = Math.max(readSpeed(at), readSpeed(at - count)) * recordedDt
    return num(distance, column) > minJump + 2 * distanceBound
  })
}

/** NaN equals NaN, but at least one number must be known. */
function hasSameNumbers(block: Float64Array, from: number, other: Float64Array): boolean {
  let hasNumber = false
  for (let i = 0; i < other.length; i++) {
    const [a, b] = [num(block, from + i), num(other, i)]
    if (a === b) hasNumber = true
    else if (!(Number.isNaN(a) && Number.isNaN(b))) return false
  }
  return hasNumber
}

export function measureDisplacements({ scene, window, row, displacement, distance }: MotionStep): void {
  if (row === 0) {
    displacement.fill(Number.NaN)
    distance.fill(Number.NaN)
    return
  }
  const states = window.states.data
  const count = scene.bodies.length
  for (let column = 0; column < count; column++) {
    const at = (row * count + column) * stateAt.width + stateAt.position
    const was = at - count * stateAt.width
    const dx = num(states, at) - num(states, was)
    const dy = num(states, at + 1) - num(states, was + 1)
    const dz = num(states, at + 2) - num(states, was + 2)
    displacement[3 * column] = dx
    displacement[3 * column + 1] = dy
    displacement[3 * column + 2] = dz
    distance[column] = length3(dx, dy, dz)
  }
}
