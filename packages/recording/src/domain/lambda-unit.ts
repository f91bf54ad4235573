import ndarray, { type NdArray } from 'ndarray'
import type { BodyId, Frame, FrictionConstraint, LambdaUnit, Value, Vector } from '../types.ts'
import { median } from './median.ts'

export type Triple = readonly [number, number, number]

export interface MomentumRow {
  /** m (v after - v before) - m g dt - F dt, in kg m/s. */
  readonly change: Triple
  /** Sum of the lambdas in the recorded unit. */
  readonly lambda: Triple
}

/** Minimum change relative to the impulse of gravity, because contacts without load contain only noise. */
const minRelativeChange = 0.01

export function toTriple(v: Vector | null | undefined): Triple | null {
  if (!v || v.x === null || v.y === null || v.z === null) return null
  return [v.x, v.y, v.z]
}

/** Returns the change of velocity in m/s; null if a velocity is missing. */
export function computeVelocityGain(before: Frame, after: Frame, body: BodyId): Triple | null {
  const [v0, v1] = [before, after].map((frame) =>
    toTriple(frame.states.find(({ body_id }) => body_id === body)?.velocity),
  )
  return v0 && v1 ? [v1[0] - v0[0], v1[1] - v0[1], v1[2] - v0[2]] : null
}

/**
 * Returns the momentum balance of the step to `after`; null if there is no contact row, a value is missing, or the load
 * is too small.
 */
export function computeMomentumRow(
  before: Frame,
  after: Frame,
  body: { readonly body_id: BodyId; readonly mass: number },
  gravity: Triple,
  dt: number,
): MomentumRow | null {
  const gain = computeVelocityGain(before, after, body.body_id)
  const lambda = sumLambdas(body.body_id, after.friction_constraints)
  const force = sumExternalForces(body.body_id, after)
  if (!gain || !lambda || !force) return null
  const getComponent = (i: 0 | 1 | 2) => body.mass * (gain[i] - gravity[i] * dt) - force[i] * dt
  const change: Triple = [getComponent(0), getComponent(1), getComponent(2)]
  const weight = body.mass * Math.hypot(...gravity) * dt
  return Math.hypot(...change) <= minRelativeChange * weight ? null : { change, lambda }
}

/** Returns the force in newtons; null if a value is missing. */
function sumExternalForces(body: BodyId, { external_forces }: Frame): Triple | null {
  const sum: [number, number, number] = [0, 0, 0]
  for (const { body_id, force } of external_forces) {
    if (body_id !== body) continue
    const vector = toTriple(force)
    if (vector === null) return null
    add(sum, vector, 1)
  }
  return sum
}

/** Returns the sum of -n * normal + t1 * tangent1 + t2 * tangent2, negated for B. */
function sumLambdas(body: BodyId, rows: readonly FrictionConstraint[]): Triple | null {
  const sum: [number, number, number] = [0, 0, 0]
  let count = 0
  for (const row of rows) {
    const sign = row.body_a_id === body ? 1 : row.body_b_id === body ? -1 : 0
    const normal = toTriple(row.normal)
    if (sign === 0 || !normal || row.normal_lambda === null) continue
    add(sum, normal, -sign * row.normal_lambda)
    addTangent(sum, row.tangent1, row.tangent1_lambda, sign)
    addTangent(sum, row.tangent2, row.tangent2_lambda, sign)
    count++
  }
  return count === 0 ? null : sum
}

function addTangent(sum: [number, number, number], tangent: Vector, lambda: Value, sign: number): void {
  const direction = toTriple(tangent)
  if (direction && lambda !== null) add(sum, direction, sign * lambda)
}

function add(sum: [number, number, number], direction: Triple, factor: number): void {
  for (const i of [0, 1, 2] as const) sum[i] += direction[i] * factor
}

const tolerance = 0.1

/**
 * Infers the unit from change = s * lambda: s is 1 for impulses and dt (s) for forces. The median of s tolerates
 * diverged steps.
 */
export function inferLambdaUnit(rows: readonly MomentumRow[], dt: number): LambdaUnit {
  const shape = [rows.length, 3]
  const change = ndarray(Float64Array.from(rows.flatMap((row) => row.change)), shape)
  const lambda = ndarray(Float64Array.from(rows.flatMap((row) => row.lambda)), shape)
  const factors: number[] = []
  for (let i = 0; i < rows.length; i++) {
    const factor = fitFactor(change.pick(i, null), lambda.pick(i, null))
    if (factor !== null) factors.push(factor)
  }
  const medianFactor = median(factors)
  if (medianFactor === null) return 'unknown'
  if (Math.abs(medianFactor - 1) <= tolerance) return 'N·s'
  if (Math.abs(medianFactor - dt) <= tolerance * dt) return 'N'
  return 'unknown'
}

/** Returns the s that minimises |y - s x|. Scales by the largest |x| to avoid overflow. */
function fitFactor(y: NdArray<Float64Array>, x: NdArray<Float64Array>): number | null {
  const scale = Math.max(Math.abs(x.get(0)), Math.abs(x.get(1)), Math.abs(x.get(2)))
  if (!(scale > 0)) return null
  let [xy, xx] = [0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const unit = x.get(axis) / scale
    xy += unit * (y.get(axis) / scale)
    xx += unit * unit
  }
  const factor = xy / xx
  return Number.isFinite(factor) ? factor : null
}
