/** One step of a recording, from a frame to the next, worked out once for all laws. */
import {
  collisionAt,
  constraintAt,
  externalAt,
  type FrameWindow,
  frictionAt,
  stateAt,
} from '@causeway/recording'
import { excess } from '../friction-cone.ts'
import { length3, num } from './component.ts'
import type { Scene } from './scene.ts'
import { addNormal, beginFrame, newTouch, type Touch } from './touch.ts'

/** The present step; a law reads it and keeps nothing of it but numbers. */
export interface Step {
  readonly scene: Scene
  window: FrameWindow
  /** row of the frame in the window */
  row: number
  frame: number
  /** s, as recorded; NaN for the first frame and over a gap */
  recordedDt: number
  /** s; the usual step where the clock is broken, NaN where there is no step to judge */
  dt: number
  /** pairs in contact, whose rows belong to this step */
  touches: Touch[]
  /** contact of each body in this step and in the one before, 0 or 1 */
  readonly touching: Uint8Array
  readonly touchedBefore: Uint8Array
  /** N·s on each body from its contacts, shape [bodies, 3]; `impulseKnown` 0 where a contact has no recorded impulse */
  readonly impulse: Float64Array
  readonly impulseKnown: Uint8Array
  /** N on each body beside gravity and contacts, shape [bodies, 3]; `hasExternal` 1 where something acts */
  readonly external: Float64Array
  readonly hasExternal: Uint8Array
  /** m that each body moved in the step, shape [bodies, 3], and how far; NaN where a position is absent */
  readonly moved: Float64Array
  readonly way: Float64Array
  /** offset of a body in the states of the frame, and of the frame before */
  at(column: number): number
  atBefore(column: number): number
}

/** Steps through windows in frame order. */
export interface Stepper {
  readonly step: Step
  /** Moves to a row of a window. */
  to(window: FrameWindow, row: number): Step
}

/** Makes a stepper over the bodies of a scene. */
export function stepper(scene: Scene): Stepper {
  const count = scene.bodies.length
  const pairs = new Map<number, Touch>()
  const step: Step = {
    scene,
    window: undefined as never,
    row: -1,
    frame: Number.NaN,
    recordedDt: Number.NaN,
    dt: Number.NaN,
    touches: [],
    touching: new Uint8Array(count),
    touchedBefore: new Uint8Array(count),
    impulse: new Float64Array(3 * count),
    impulseKnown: new Uint8Array(count),
    external: new Float64Array(3 * count),
    hasExternal: new Uint8Array(count),
    moved: new Float64Array(3 * count),
    way: new Float64Array(count),
    at: (column) => (step.row * count + column) * stateAt.width,
    atBefore: (column) => ((step.row - 1) * count + column) * stateAt.width,
  }

  let latest: Touch | undefined
  const touchOf = (a: number, b: number): Touch => {
    // Rows of a pair follow each other.
    if (latest !== undefined && latest.a === a && latest.b === b && latest.frame === step.frame) return latest
    const key = a * 2 ** 32 + b
    let touch = pairs.get(key)
    if (touch === undefined) {
      const columns = { a: scene.columnOf.get(a) ?? -1, b: scene.columnOf.get(b) ?? -1 }
      touch = newTouch(a, b, columns, key)
      pairs.set(key, touch)
    }
    if (touch.frame !== step.frame) {
      beginFrame(touch, step.frame)
      step.touches.push(touch)
      if (touch.columnA >= 0) step.touching[touch.columnA] = 1
      if (touch.columnB >= 0) step.touching[touch.columnB] = 1
    }
    latest = touch
    return touch
  }

  return {
    step,
    to(window, row) {
      const isNext = row > 0 && window.frames[row - 1] === step.frame
      step.window = window
      step.row = row
      step.frame = window.frames[row] ?? Number.NaN
      const isConsecutive = row > 0 && (window.frames[row - 1] ?? 0) === step.frame - 1
      step.recordedDt = isConsecutive ? (window.times[row] ?? 0) - (window.times[row - 1] ?? 0) : Number.NaN
      step.dt = !isConsecutive ? Number.NaN : step.recordedDt > 0 ? step.recordedDt : scene.dt
      step.touchedBefore.set(step.touching)
      if (!isNext) step.touchedBefore.fill(0)
      step.touching.fill(0)
      step.touches = []
      readTouches(step, touchOf)
      sumImpulses(step)
      readExternals(step)
      measureWays(step)
      return step
    },
  }
}

function readTouches({ window, row }: Step, touchOf: (a: number, b: number) => Touch): void {
  const { collisions, constraints, friction } = window
  const c = collisions.data.data
  for (let i = collisions.offset[row] ?? 0; i < (collisions.offset[row + 1] ?? 0); i++) {
    const at = i * collisionAt.width
    const touch = touchOf(c[at] ?? 0, c[at + 1] ?? 0)
    copy(touch.normal, c, at + collisionAt.normal)
    addNormal(touch, c, at + collisionAt.normal)
    deepen(touch, c[at + collisionAt.depth] ?? Number.NaN)
  }
  const k = constraints.data.data
  for (let i = constraints.offset[row] ?? 0; i < (constraints.offset[row + 1] ?? 0); i++) {
    const at = i * constraintAt.width
    const touch = touchOf(k[at] ?? 0, k[at + 1] ?? 0)
    if (touch.constraintRows === 0) {
      copy(touch.normal, k, at + constraintAt.normal)
      // What the solver worked with comes before what the collision said.
      touch.normals.count = 0
    }
    addNormal(touch, k, at + constraintAt.normal)
    deepen(touch, k[at + constraintAt.depth] ?? Number.NaN)
    touch.constraintRows += 1
    mean(touch.leverA, k, at + constraintAt.leverA, touch.constraintRows)
    mean(touch.leverB, k, at + constraintAt.leverB, touch.constraintRows)
    touch.restitution = k[at + constraintAt.restitution] ?? Number.NaN
    const closing = k[at + constraintAt.closing] ?? Number.NaN
    if (!(Math.abs(closing) <= Math.abs(touch.closing))) touch.closing = closing
  }
  const f = friction.data.data
  for (let i = friction.offset[row] ?? 0; i < (friction.offset[row + 1] ?? 0); i++) {
    const at = i * frictionAt.width
    const touch = touchOf(f[at] ?? 0, f[at + 1] ?? 0)
    if (touch.constraintRows === 0) {
      if (touch.frictionRows === 0) {
        copy(touch.normal, f, at + frictionAt.normal)
        touch.normals.count = 0
      }
      addNormal(touch, f, at + frictionAt.normal)
    }
    touch.frictionRows += 1
    const n = f[at + frictionAt.n] ?? Number.NaN
    const t1 = f[at + frictionAt.t1] ?? Number.NaN
    const t2 = f[at + frictionAt.t2] ?? Number.NaN
    // Solvers leave tangents on points that carry no load: they are no forces.
    const isLoaded = n !== 0
    const [along, one, two] = [at + frictionAt.normal, at + frictionAt.tangent1, at + frictionAt.tangent2]
    touch.n += n
    const limit = (f[at + frictionAt.mu] ?? Number.NaN) * Math.abs(n)
    touch.limit += limit
    const tangent = Math.sqrt(t1 * t1 + t2 * t2)
    if (isLoaded && excess(tangent, limit) > excess(touch.rowTangent, touch.rowLimit)) {
      touch.rowTangent = tangent
      touch.rowLimit = limit
    }
    addForce(touch, 0, t1 * num(f, one) + t2 * num(f, two), n * num(f, along), isLoaded)
    addForce(touch, 1, t1 * num(f, one + 1) + t2 * num(f, two + 1), n * num(f, along + 1), isLoaded)
    addForce(touch, 2, t1 * num(f, one + 2) + t2 * num(f, two + 2), n * num(f, along + 2), isLoaded)
  }
}

/** Adds a force on a along an axis: its tangential part, and its part along the normal, which pushes a back. */
function addForce(touch: Touch, axis: 0 | 1 | 2, tangent: number, normal: number, isLoaded: boolean): void {
  if (isLoaded) touch.tangent[axis] += tangent
  touch.impulse[axis] += tangent - normal
}

function sumImpulses(step: Step): void {
  const { scene, impulse, impulseKnown, touches, dt } = step
  impulse.fill(0)
  impulseKnown.fill(1)
  const factor = scene.impulseFactor(dt)
  for (const touch of touches) {
    const isKnown = touch.frictionRows > 0 && Number.isFinite(factor)
    pushBody(touch.columnA, isKnown, factor, touch)
    pushBody(touch.columnB, isKnown, -factor, touch)
  }

  function pushBody(column: number, isKnown: boolean, scale: number, { impulse: [x, y, z] }: Touch): void {
    if (column < 0) return
    if (!isKnown) {
      impulseKnown[column] = 0
      return
    }
    const at = 3 * column
    impulse[at] = num(impulse, at) + scale * x
    impulse[at + 1] = num(impulse, at + 1) + scale * y
    impulse[at + 2] = num(impulse, at + 2) + scale * z
  }
}

function measureWays({ scene, window, row, moved, way }: Step): void {
  if (row === 0) {
    moved.fill(Number.NaN)
    way.fill(Number.NaN)
    return
  }
  const s = window.states.data
  const count = scene.bodies.length
  for (let column = 0; column < count; column++) {
    const at = (row * count + column) * stateAt.width + stateAt.position
    const was = at - count * stateAt.width
    const dx = num(s, at) - num(s, was)
    const dy = num(s, at + 1) - num(s, was + 1)
    const dz = num(s, at + 2) - num(s, was + 2)
    moved[3 * column] = dx
    moved[3 * column + 1] = dy
    moved[3 * column + 2] = dz
    way[column] = length3(dx, dy, dz)
  }
}

function readExternals({ scene, window, row, external, hasExternal }: Step): void {
  external.fill(0)
  hasExternal.fill(0)
  const { offset, data } = window.externals
  for (let i = offset[row] ?? 0; i < (offset[row + 1] ?? 0); i++) {
    const at = i * externalAt.width
    const column = scene.columnOf.get(data.data[at] ?? -1)
    if (column === undefined) continue
    hasExternal[column] = 1
    for (const axis of [0, 1, 2] as const)
      external[3 * column + axis] =
        (external[3 * column + axis] ?? 0) + (data.data[at + externalAt.force + axis] ?? 0)
  }
}

function deepen(touch: Touch, depth: number): void {
  if (Number.isNaN(touch.depth) || depth > touch.depth) touch.depth = depth
}

function copy(to: [number, number, number], from: Float64Array, at: number): void {
  to[0] = num(from, at)
  to[1] = num(from, at + 1)
  to[2] = num(from, at + 2)
}

function mean(to: [number, number, number], from: Float64Array, at: number, count: number): void {
  to[0] += (num(from, at) - to[0]) / count
  to[1] += (num(from, at + 1) - to[1]) / count
  to[2] += (num(from, at + 2) - to[2]) / count
}
