import type { BodyId, Frame, FrictionConstraint, Value, Vector } from '../types.ts'

/** x, y, z, all known. */
export type Triple = readonly [number, number, number]

/** One body over one step: what its momentum gained beside gravity and external forces, and what its contact rows say it should. */
export interface MomentumRow {
  /** m (v after - v before) - m g dt - F dt, kg m/s */
  readonly change: Triple
  /** sum of the recorded lambdas along their directions, acting on this body, in the recorded unit */
  readonly lambda: Triple
}

/** Part of the impulse of gravity that a contact has to give back before it says anything. */
const negligible = 0.01

/** The three components, or null where one was not recorded. */
export function triple(v: Vector | null | undefined): Triple | null {
  if (!v || v.x === null || v.y === null || v.z === null) return null
  return [v.x, v.y, v.z]
}

/** Velocity gained by a body between two frames, m/s, or null where one of them lacks it. */
export function velocityGain(before: Frame, after: Frame, body: BodyId): Triple | null {
  const [v0, v1] = [before, after].map((frame) =>
    triple(frame.states.find(({ body_id }) => body_id === body)?.velocity),
  )
  return v0 && v1 ? [v1[0] - v0[0], v1[1] - v0[1], v1[2] - v0[2]] : null
}

/**
 * The momentum balance of a body over the step that led to `after`, whose contact rows belong to that step.
 * Null where the body has no contact row in it, a value is missing, or the contact changed nothing: what solvers leave
 * in the rows of a contact that carries no load is noise.
 */
export function momentumRow(
  before: Frame,
  after: Frame,
  body: { readonly body_id: BodyId; readonly mass: number },
  gravity: Triple,
  dt: number,
): MomentumRow | null {
  const gain = velocityGain(before, after, body.body_id)
  const lambda = lambdaOn(body.body_id, after.friction_constraints)
  const force = externalOn(body.body_id, after)
  if (!gain || !lambda || !force) return null
  const part = (i: 0 | 1 | 2) => body.mass * (gain[i] - gravity[i] * dt) - force[i] * dt
  const change: Triple = [part(0), part(1), part(2)]
  const weight = body.mass * Math.hypot(...gravity) * dt
  return Math.hypot(...change) <= negligible * weight ? null : { change, lambda }
}

/** Sum of the external forces on a body in the step of a frame, N, or null where one is not a number. */
function externalOn(body: BodyId, { external_forces }: Frame): Triple | null {
  const sum: [number, number, number] = [0, 0, 0]
  for (const { body_id, force } of external_forces) {
    if (body_id !== body) continue
    const one = triple(force)
    if (one === null) return null
    add(sum, one, 1)
  }
  return sum
}

/** Sum of -n * normal + t1 * tangent1 + t2 * tangent2 over the rows of a body, negated where it is B. */
function lambdaOn(body: BodyId, rows: readonly FrictionConstraint[]): Triple | null {
  const sum: [number, number, number] = [0, 0, 0]
  let count = 0
  for (const row of rows) {
    const sign = row.body_a_id === body ? 1 : row.body_b_id === body ? -1 : 0
    const normal = triple(row.normal)
    if (sign === 0 || !normal || row.normal_lambda === null) continue
    add(sum, normal, -sign * row.normal_lambda)
    addTangent(sum, row.tangent1, row.tangent1_lambda, sign)
    addTangent(sum, row.tangent2, row.tangent2_lambda, sign)
    count++
  }
  return count === 0 ? null : sum
}

function addTangent(sum: [number, number, number], tangent: Vector, lambda: Value, sign: number): void {
  const direction = triple(tangent)
  if (direction && lambda !== null) add(sum, direction, sign * lambda)
}

function add(sum: [number, number, number], direction: Triple, factor: number): void {
  for (const i of [0, 1, 2] as const) sum[i] += direction[i] * factor
}
