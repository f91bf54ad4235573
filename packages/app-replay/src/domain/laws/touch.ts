/** A pair of bodies that touches, with what the current frame says of its contact. */
import type { BodyId } from '@causeway/recording'
import { num } from './component.ts'

/** Distinct normals of a pair in a frame: floor and walls may be one body. */
export interface Normals {
  count: number
  /** shape [mostNormals, 3], of which `count` hold; unit vectors from a to b */
  readonly vectors: Float64Array
}

/** Normals of a pair that are kept of a frame: where there are as many, there may have been more. */
export const mostNormals = 8

/** Cosine of 1 degree: normals that are nearer to each other are one. */
const sameNormal = 0.9998

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
  /** unit, from a to b, of `frame`: the last of its collision rows, or the first of its constraints */
  readonly normal: [number, number, number]
  /** all normals of `frame` and of `before` */
  normals: Normals
  normalsBefore: Normals
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
    normals: { count: 0, vectors: new Float64Array(3 * mostNormals) },
    normalsBefore: { count: 0, vectors: new Float64Array(3 * mostNormals) },
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
  const { normal, normals, normalsBefore, tangent, impulse, leverA, leverB } = touch
  touch.normals = normalsBefore
  touch.normals.count = 0
  touch.normalsBefore = normals
  for (const vector of [normal, tangent, impulse, leverA, leverB]) vector[0] = vector[1] = vector[2] = 0
}

/** Cosine of the angle between two vectors of these blocks, which are unit vectors. */
export const cosineOf = (one: Float64Array, at: number, other: Float64Array, from: number): number =>
  num(one, at) * num(other, from) +
  num(one, at + 1) * num(other, from + 1) +
  num(one, at + 2) * num(other, from + 2)

/** Keeps the normal at a place of a block beside those of the frame, unless it is one of them. */
export function addNormal({ normals }: Touch, block: Float64Array, at: number): void {
  const { count, vectors } = normals
  for (let i = 0; i < count; i++) if (cosineOf(vectors, 3 * i, block, at) > sameNormal) return
  if (count === mostNormals) return
  for (let i = 0; i < 3; i++) vectors[3 * count + i] = num(block, at + i)
  normals.count += 1
}
