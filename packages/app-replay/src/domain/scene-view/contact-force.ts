/** The force between the bodies of each pair in a frame, on the one that is drawn as carried. */
import type { BodyId, Frame } from '@causeway/recording'
import { isSamePair, type Pair } from '../body.ts'
import { type ForceScale, newtons } from '../force.ts'
import { add, known, type Place } from './view.ts'

/** What acts between a pair: where they touch, and the force on `on`, N; null where it is not known. */
export interface ContactForce extends Pair {
  readonly points: readonly Place[]
  readonly at: Place
  readonly on: BodyId
  readonly normal: Place | null
  readonly friction: Place | null
}

const zero: Place = [0, 0, 0]

/** Forces of the pairs of a frame; `carries` says which of two bodies the arrow is drawn for. */
export function contactForces(
  { collisions, friction_constraints }: Frame,
  scale: ForceScale,
  carried: (pair: Pair) => BodyId,
): ContactForce[] {
  return collisions.flatMap(({ body_a_id, body_b_id, contacts }) => {
    const pair = { body_a_id, body_b_id }
    const points = contacts.map(({ point_a }) => known(point_a)).filter((point) => point !== null)
    if (points.length === 0) return []
    const at = points.reduce((sum, point) => add(sum, point, 1 / points.length), zero)
    const on = carried(pair)
    let normal: Place = zero
    let friction: Place = zero
    let isKnown = false
    for (const row of friction_constraints) {
      if (!isSamePair(row, pair)) continue
      // On A the normal pushes against the way from A to B, and friction along the tangents.
      const sign = row.body_a_id === on ? 1 : -1
      const along = (axis: Parameters<typeof known>[0], lambda: number | null, turn: number): Place => {
        const [direction, force] = [known(axis), newtons(lambda, scale)]
        if (direction === null || force === null) return zero
        isKnown = true
        return add(zero, direction, turn * sign * force)
      }
      normal = add(normal, along(row.normal, row.normal_lambda, -1))
      friction = add(friction, along(row.tangent1, row.tangent1_lambda, 1))
      friction = add(friction, along(row.tangent2, row.tangent2_lambda, 1))
    }
    return [{ ...pair, points, at, on, normal: isKnown ? normal : null, friction: isKnown ? friction : null }]
  })
}
