/** A pair of bodies that touches, with what the current frame says of its contact. */
import type { BodyId } from '@causeway/recording'

/** One pair over the whole recording; numbers are those of the last frame in which it touched. */
export interface Touch {
  readonly a: BodyId
  readonly b: BodyId
  /** columns of the bodies; -1 for the environment */
  readonly columnA: number
  readonly columnB: number
  readonly key: number
  /** last frame of contact, the one before it, and the first of the present spell */
  frame: number
  before: number
  since: number
  /** unit, from a to b; of `frame` and of `before` */
  readonly normal: [number, number, number]
  readonly normalBefore: [number, number, number]
  /** m, deepest of the rows; NaN where none says */
  depth: number
  /** rows of friction constraints, and of normal constraints */
  frictionRows: number
  constraintRows: number
  /** sums over the friction rows, recorded unit: normal, tangential vector on a, limit mu * n */
  n: number
  readonly tangent: [number, number, number]
  limit: number
  /** tangential impulse and limit of the friction row that exceeds its own limit most, recorded unit */
  rowTangent: number
  rowLimit: number
  /** impulse on a, recorded unit */
  readonly impulse: [number, number, number]
  /** m, mean lever arms */
  readonly leverA: [number, number, number]
  readonly leverB: [number, number, number]
  restitution: number
  /** m/s along the normal before the step, as recorded */
  closing: number
}

/** A pair that was never seen before. */
export function newTouch(a: BodyId, b: BodyId, columns: { a: number; b: number }, key: number): Touch {
  return {
    a,
    b,
    columnA: columns.a,
    columnB: columns.b,
    key,
    frame: Number.NEGATIVE_INFINITY,
    before: Number.NEGATIVE_INFINITY,
    since: 0,
    normal: [0, 0, 0],
    normalBefore: [0, 0, 0],
    depth: Number.NaN,
    frictionRows: 0,
    constraintRows: 0,
    n: 0,
    tangent: [0, 0, 0],
    limit: 0,
    rowTangent: 0,
    rowLimit: 0,
    impulse: [0, 0, 0],
    leverA: [0, 0, 0],
    leverB: [0, 0, 0],
    restitution: Number.NaN,
    closing: Number.NaN,
  }
}

/** Begins the contact of a frame. */
export function beginFrame(touch: Touch, frame: number): void {
  touch.before = touch.frame
  if (touch.before !== frame - 1) touch.since = frame
  touch.frame = frame
  touch.depth = Number.NaN
  touch.frictionRows = 0
  touch.constraintRows = 0
  touch.n = 0
  touch.limit = 0
  touch.rowTangent = 0
  touch.rowLimit = 0
  touch.restitution = Number.NaN
  touch.closing = Number.NaN
  const { normal, normalBefore, tangent, impulse, leverA, leverB } = touch
  normalBefore[0] = normal[0]
  normalBefore[1] = normal[1]
  normalBefore[2] = normal[2]
  for (const vector of [normal, tangent, impulse, leverA, leverB]) vector[0] = vector[1] = vector[2] = 0
}
