import type { BodyId } from '@causeway/recording'
import { num } from './block.ts'

/** Distinct normals of a pair in a frame. */
export interface Normals {
  count: number
  /** Unit vectors from a to b, shape [maxNormals, 3]; the first `count` are used. */
  readonly vectors: Float64Array
}

/** A pair with this number of normals may have more. */
export const maxNormals = 8

/** Cosine of 1 degree. */
const sameNormalCosine = 0.9998

/** A touching pair of bodies. Numbers are from the last frame of contact. Impulses are in the recorded unit. */
export interface Touch {
  readonly a: BodyId
  readonly b: BodyId
  /** -1 for the environment. */
  readonly columnA: number
  readonly columnB: number
  readonly key: number
  /** `firstFrame` is the first frame of the current contact. */
  frame: number
  previousFrame: number
  firstFrame: number
  /** Unit vector from a to b, from the last collision row or the first constraint row. */
  readonly normal: [number, number, number]
  /** All normals of `frame` and of `previousFrame`. */
  normals: Normals
  normalsBefore: Normals
  /** Maximum depth in m; NaN if not recorded. */
  depth: number
  frictionRows: number
  constraintRows: number
  /** Sums over the loaded friction rows: tangential vector on a, and mu * |n|. */
  readonly tangent: [number, number, number]
  limit: number
  /** From the friction row with the largest excess. `rowAxis` is the larger part along a tangent. */
  rowTangent: number
  rowAxis: number
  rowLimit: number
  /** Numbers of rows at the limit of a cone or a pyramid. `exactConeRows` deviate only by rounding. */
  coneRows: number
  exactConeRows: number
  pyramidRows: number
  /** Extreme friction coefficients; NaN if one is missing. */
  maxFriction: number
  minFriction: number
  /** Impulse on a. */
  readonly impulse: [number, number, number]
  /** Part of `impulse` along the normals. */
  readonly normalImpulse: [number, number, number]
  /** Sums of lever arm × impulse. */
  readonly torqueA: [number, number, number]
  readonly torqueB: [number, number, number]
  /** Mean lever arms in m, over `leverRows` rows. */
  leverRows: number
  readonly leverA: [number, number, number]
  readonly leverB: [number, number, number]
  restitution: number
  /** Recorded speed along the normal before the step, m/s. */
  closingSpeed: number
}

const createNormals = (): Normals => ({ count: 0, vectors: new Float64Array(3 * maxNormals) })

export function createTouch(
  a: BodyId,
  b: BodyId,
  columns: { readonly a: number; readonly b: number },
  key: number,
): Touch {
  return {
    a,
    b,
    columnA: columns.a,
    columnB: columns.b,
    key,
    frame: Number.NEGATIVE_INFINITY,
    previousFrame: Number.NEGATIVE_INFINITY,
    firstFrame: 0,
    normal: [0, 0, 0],
    normals: createNormals(),
    normalsBefore: createNormals(),
    depth: Number.NaN,
    frictionRows: 0,
    constraintRows: 0,
    tangent: [0, 0, 0],
    limit: 0,
    rowTangent: 0,
    rowAxis: 0,
    rowLimit: 0,
    coneRows: 0,
    exactConeRows: 0,
    pyramidRows: 0,
    maxFriction: Number.NEGATIVE_INFINITY,
    minFriction: Number.POSITIVE_INFINITY,
    impulse: [0, 0, 0],
    normalImpulse: [0, 0, 0],
    torqueA: [0, 0, 0],
    torqueB: [0, 0, 0],
    leverRows: 0,
    leverA: [0, 0, 0],
    leverB: [0, 0, 0],
    restitution: Number.NaN,
    closingSpeed: Number.NaN,
  }
}

export function beginFrame(touch: Touch, frame: number): void {
  touch.previousFrame = touch.frame
  if (touch.previousFrame !== frame - 1) touch.firstFrame = frame
  touch.frame = frame
  touch.depth = Number.NaN
  touch.frictionRows = 0
  touch.constraintRows = 0
  touch.limit = 0
  touch.leverRows = 0
  touch.rowTangent = 0
  touch.rowAxis = 0
  touch.rowLimit = 0
  touch.coneRows = 0
  touch.exactConeRows = 0
  touch.pyramidRows = 0
  touch.maxFriction = Number.NEGATIVE_INFINITY
  touch.minFriction = Number.POSITIVE_INFINITY
  touch.restitution = Number.NaN
  touch.closingSpeed = Number.NaN
  const {
    normal,
    normals,
    normalsBefore,
    tangent,
    impulse,
    normalImpulse,
    torqueA,
    torqueB,
    leverA,
    leverB,
  } = touch
  touch.normals = normalsBefore
  touch.normals.count = 0
  touch.normalsBefore = normals
  for (const vector of [normal, tangent, impulse, normalImpulse, torqueA, torqueB, leverA, leverB])
    vector[0] = vector[1] = vector[2] = 0
}

export const getCosine = (a: Float64Array, atA: number, b: Float64Array, atB: number): number =>
  num(a, atA) * num(b, atB) + num(a, atA + 1) * num(b, atB + 1) + num(a, atA + 2) * num(b, atB + 2)

/** Ignores a normal that the frame already contains. */
export function addNormal({ normals }: Touch, block: Float64Array, at: number): void {
  const { count, vectors } = normals
  for (let i = 0; i < count; i++) if (getCosine(vectors, 3 * i, block, at) > sameNormalCosine) return
  if (count === maxNormals) return
  for (let i = 0; i < 3; i++) vectors[3 * count + i] = num(block, at + i)
  normals.count += 1
}
