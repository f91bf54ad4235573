import type { BodyId, Frame } from '@causeway/recording'
import { isSamePair, type Pair } from '../bodies/body.ts'
import { type ForceScale, toNewtons } from '../contacts/force.ts'
import { add, type Point3 } from '../vector.ts'
import { toPoint3 } from './view.ts'

/** Forces on `body` in N. `at` is the mean of the points. */
export interface ContactForce extends Pair {
  readonly points: readonly Point3[]
  readonly at: Point3
  readonly body: BodyId
  readonly normal: Point3 | null
  readonly friction: Point3 | null
}

const zero: Point3 = [0, 0, 0]

/** `getSupportedBody` selects the body of a pair on which the returned forces act. */
export function listContactForces(
  { collisions, friction_constraints }: Frame,
  scale: ForceScale,
  getSupportedBody: (pair: Pair) => BodyId,
): ContactForce[] {
  return collisions.flatMap(({ body_a_id, body_b_id, contacts }) => {
    const pair = { body_a_id, body_b_id }
    const points = contacts.map(({ point_a }) => toPoint3(point_a)).filter((point) => point !== null)
    if (points.length === 0) return []
    const at = points.reduce((sum, point) => add(sum, point, 1 / points.length), zero)
    const body = getSupportedBody(pair)
    let normal: Point3 = zero
    let friction: Point3 = zero
    let isKnown = false
    for (const row of friction_constraints) {
      if (!isSamePair(row, pair)) continue
      // Body A is pushed against the normal and along the tangents.
      const sign = row.body_a_id === body ? 1 : -1
      const toForce = (
        axis: Parameters<typeof toPoint3>[0],
        lambda: number | null,
        factor: number,
      ): Point3 => {
        const [direction, force] = [toPoint3(axis), toNewtons(lambda, scale)]
        if (direction === null || force === null) return zero
        isKnown = true
        return add(zero, direction, factor * sign * force)
      }
      normal = add(normal, toForce(row.normal, row.normal_lambda, -1))
      friction = add(friction, toForce(row.tangent1, row.tangent1_lambda, 1))
      friction = add(friction, toForce(row.tangent2, row.tangent2_lambda, 1))
    }
    return [
      { ...pair, points, at, body, normal: isKnown ? normal : null, friction: isKnown ? friction : null },
    ]
  })
}

/** Selects the upper of two movable bodies, otherwise the body outside the environment. */
export const createSupportedBodySelector =
  (heightById: ReadonlyMap<BodyId, number>, isEnvironment: (id: BodyId) => boolean) =>
  ({ body_a_id, body_b_id }: Pair): BodyId => {
    const [a, b] = [heightById.get(body_a_id), heightById.get(body_b_id)]
    if (isEnvironment(body_b_id) || b === undefined) return body_a_id
    return a !== undefined && a >= b ? body_a_id : body_b_id
  }
