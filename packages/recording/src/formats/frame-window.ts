import type { NdArray } from 'ndarray'
import type { BodyId } from '../types.ts'

/** Offsets in a state row in SI units: quaternion w first, spin in the body frame. */
export const stateAt = { position: 0, velocity: 3, orientation: 6, spin: 10, width: 13 } as const

export const energyAt = { linear: 0, rotational: 1, potential: 2, total: 3, width: 4 } as const

/** Begins with the columns of `energyAt`; flags are 0 or 1. */
export const systemAt = { total: 3, delta: 4, injection: 5, active: 6, width: 7 } as const

/** `converged` is 0 or 1, `contacts` counts colliding pairs. */
export const solverAt = {
  iterations: 0,
  residual: 1,
  converged: 2,
  constraints: 3,
  contacts: 4,
  width: 5,
} as const

export const collisionAt = { a: 0, b: 1, normal: 2, depth: 5, width: 6 } as const

/** Lever arms start at the centres of mass; the closing speed is along the normal. */
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

/** n, t1 and t2 are constraint values in the recording's unit. */
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

export const externalAt = { body: 0, force: 1, torque: 4, point: 7, width: 10 } as const

/** A joint's row contains the index of its kind. */
export const jointKinds = ['other', 'fixed', 'hinge', 'slider', 'ball'] as const

/** Impulse and torque act on a, in the recording's unit. */
export const jointAt = { a: 0, b: 1, kind: 2, point: 3, impulse: 6, torque: 9, error: 12, width: 13 } as const

/** Groups of columns. In C++ recordings, each vector is a row of a separate table. */
const windowParts = [
  'position',
  'velocity',
  'orientation',
  'spin',
  'energies',
  'system',
  'solver',
  'collisions',
  'collisionNormals',
  'constraints',
  'friction',
  'frictionVectors',
  'externals',
  'joints',
] as const

export type WindowPart = (typeof windowParts)[number]

/** Unselected numbers may be NaN, and unselected lists empty. */
export interface ColumnSelection {
  readonly parts: readonly WindowPart[]
  /** Bodies whose states and energies are needed. Default: all. */
  readonly bodies?: readonly BodyId[]
}

export const allColumns: ColumnSelection = { parts: windowParts }

/** Frame f has the rows `offset[f]` to `offset[f + 1]`, exclusive. */
export interface FlatRows {
  readonly offset: Uint32Array
  /** Shape [rows, fields], row-major; NaN = not recorded. */
  readonly data: NdArray<Float64Array>
}

/**
 * Columns of consecutive frames in SI units; NaN = not recorded. The requested frames are `from` to `to`, exclusive.
 * If `from` is 1, row 0 is the previous frame.
 */
export interface FrameWindow {
  readonly from: number
  readonly to: number
  /** Shape [frames]. */
  readonly frames: Float64Array
  /** Shape [frames]. */
  readonly times: Float64Array
  /** Bodies in column order, possibly only the selected ones. */
  readonly bodies: readonly BodyId[]
  /** Number of states of a body in a frame, at most 255. The last one is used. Shape [frames, bodies]. */
  readonly present: Uint8Array
  /** Shape [frames, bodies, 13]. */
  readonly states: NdArray<Float64Array>
  /** Shape [frames, bodies, 4]. */
  readonly energies: NdArray<Float64Array>
  /** Shape [frames, 7]. */
  readonly system: NdArray<Float64Array>
  /** Shape [frames, 5]. */
  readonly solver: NdArray<Float64Array>
  readonly collisions: FlatRows
  readonly constraints: FlatRows
  readonly friction: FlatRows
  readonly externals: FlatRows
  readonly joints: FlatRows
}
