import type { NdArray } from 'ndarray'
import type { BodyId } from './types.ts'

/** Columns of a body's state: m, m/s, Hamilton quaternion w first, rad/s in the body frame. */
export const stateAt = { position: 0, velocity: 3, orientation: 6, spin: 10, width: 13 } as const

/** Columns of a body's energy, J. */
export const energyAt = { linear: 0, rotational: 1, potential: 2, total: 3, width: 4 } as const

/** Columns of the system's energy, J, which begin as those of a body; flags are 0 or 1. */
export const systemAt = { total: 3, delta: 4, injection: 5, active: 6, width: 7 } as const

/** Columns of the solver; `converged` is 0 or 1, `contacts` counts colliding pairs. */
export const solverAt = {
  iterations: 0,
  residual: 1,
  converged: 2,
  constraints: 3,
  contacts: 4,
  width: 5,
} as const

/** Columns of a colliding pair; the normal points from a to b, depth in m. */
export const collisionAt = { a: 0, b: 1, normal: 2, depth: 5, width: 6 } as const

/** Columns of a normal constraint: levers in m from the centres of mass, closing speed in m/s along the normal. */
export const constraintAt = {
  a: 0,
  b: 1,
  normal: 2,
  leverA: 5,
  leverB: 8,
  depth: 11,
  restitution: 12,
  closing: 13,
  width: 14,
} as const

/** Columns of a friction constraint: n, t1, t2 are its lambdas in the unit of the recording. */
export const frictionAt = {
  a: 0,
  b: 1,
  normal: 2,
  tangent1: 5,
  tangent2: 8,
  leverA: 11,
  leverB: 14,
  mu: 17,
  n: 18,
  t1: 19,
  t2: 20,
  width: 21,
} as const

/** Columns of what acts on a body beside gravity and contacts: N, N·m. */
export const externalAt = { body: 0, force: 1, torque: 4, width: 7 } as const

/** Rows of a table, of which a frame has any number: those of frame row f are `offset[f]` up to `offset[f + 1]`. */
export interface FlatRows {
  readonly offset: Uint32Array
  /** shape [rows, fields], row-major float64; NaN = absent */
  readonly data: NdArray<Float64Array>
}

/**
 * Consecutive frames as columns, float64, NaN where nothing was recorded.
 *
 * Frames `from` up to, not including, `to` are those asked for; row 0 is the frame before them where there is one, so
 * that steps can be judged without another window.
 */
export interface FrameWindow {
  readonly from: number
  readonly to: number
  /** frame ids, shape [frames] */
  readonly frames: Float64Array
  /** s, shape [frames] */
  readonly times: Float64Array
  /** ids of the bodies in the order of the columns */
  readonly bodies: readonly BodyId[]
  /** 1 where the body has a state row, whatever its numbers; shape [frames, bodies] */
  readonly present: Uint8Array
  /** shape [frames, bodies, 13] */
  readonly states: NdArray<Float64Array>
  /** shape [frames, bodies, 4] */
  readonly energies: NdArray<Float64Array>
  /** shape [frames, 7] */
  readonly system: NdArray<Float64Array>
  /** shape [frames, 5] */
  readonly solver: NdArray<Float64Array>
  readonly collisions: FlatRows
  readonly constraints: FlatRows
  readonly friction: FlatRows
  readonly externals: FlatRows
}
