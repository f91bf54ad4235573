/** Friction of contacts against the Coulomb cone |Ft| <= mu * Fn. A ratio: it holds for impulses and for forces. */
import type { FrictionConstraint, Value } from '@causeway/recording'
import { environmentTest, type Pair } from './body.ts'
import { type ForceScale, newtons } from './force.ts'
import { count, readable } from './sentence.ts'

/** Slack of `exceeds_limit`: 1 % of the limit. */
export const epsilon = 0.01

/** Slack of `exceeds_limit_strict` beside it, in the recorded unit: solvers leave noise of this size. */
export const noise = 1e-6

/** By how much a tangential force exceeds its limit and the slack; at most 0 for one on the cone. */
export const excess = (tangent: number, limit: number): number => tangent - limit * (1 + epsilon)

/** One contact against its cone. Values are as recorded; `*_n` are newtons, null where the unit is unknown. */
export interface ConeCheck extends Pair {
  readonly friction_coefficient: Value
  readonly normal_force: Value
  /** mu * |normal_force| */
  readonly friction_limit: Value
  readonly tangent1_force: Value
  readonly tangent2_force: Value
  readonly total_tangent_force: Value
  /** total > 1.01 * limit; null where a value is missing */
  readonly exceeds_limit: boolean | null
  /** total > 1.01 * limit + 1e-6; null where a value is missing */
  readonly exceeds_limit_strict: boolean | null
  /** limit - total */
  readonly margin: Value
  /** total / limit; null where the limit is 0 */
  readonly utilization: Value
  readonly normal_force_n: Value
  readonly friction_limit_n: Value
  readonly total_tangent_force_n: Value
}

/** Checks one friction constraint. */
export function checkCone(row: FrictionConstraint, scale: ForceScale): ConeCheck {
  const { body_a_id, body_b_id, friction_coefficient, tangent1_lambda, tangent2_lambda } = row
  const normal = row.normal_lambda === null ? null : Math.abs(row.normal_lambda)
  const limit = friction_coefficient === null || normal === null ? null : friction_coefficient * normal
  const total =
    tangent1_lambda === null || tangent2_lambda === null ? null : Math.hypot(tangent1_lambda, tangent2_lambda)
  const known = limit !== null && total !== null
  return {
    body_a_id,
    body_b_id,
    friction_coefficient,
    normal_force: normal,
    friction_limit: limit,
    tangent1_force: tangent1_lambda,
    tangent2_force: tangent2_lambda,
    total_tangent_force: total,
    exceeds_limit: known ? total > limit * (1 + epsilon) : null,
    exceeds_limit_strict: known ? total > limit * (1 + epsilon) + noise : null,
    margin: known ? limit - total : null,
    utilization: known && limit !== 0 ? total / limit : null,
    normal_force_n: newtons(normal, scale),
    friction_limit_n: newtons(limit, scale),
    total_tangent_force_n: newtons(total, scale),
  }
}

/** A verdict over the contacts of one frame. */
export interface ConeVerdict {
  /** contacts that exceed the limit by more than 1 % */
  readonly violation_count: number
  /** those of them that exceed it by more than noise */
  readonly strict_violation_count: number
  /** contacts whose values are missing */
  readonly unjudged_count: number
  /** where the violating contacts stand in the list */
  readonly exceeding: readonly (Pair & { readonly index: number; readonly utilization: Value })[]
}

/** Counts the violating contacts and says where they stand. */
export function judgeCones(checks: readonly ConeCheck[]): ConeVerdict {
  const exceeding = checks.flatMap(({ body_a_id, body_b_id, utilization, exceeds_limit }, index) =>
    exceeds_limit === true ? [{ index, body_a_id, body_b_id, utilization }] : [],
  )
  return {
    violation_count: exceeding.length,
    strict_violation_count: checks.filter((check) => check.exceeds_limit_strict === true).length,
    unjudged_count: checks.filter((check) => check.exceeds_limit === null).length,
    exceeding,
  }
}

/** From this share of the limit on, a contact is said to be at its limit. */
const atLimit = 0.99

const isEnvironment = environmentTest({ bodies: [] })

/** The verdict in words, with the pair that uses most of its cone; pairs that collide without friction are told. */
export function coneSummary(
  checks: readonly ConeCheck[],
  verdict: ConeVerdict,
  withoutFriction: number,
): string {
  const { violation_count, strict_violation_count, unjudged_count } = verdict
  const noisy = violation_count - strict_violation_count
  const sentences = [
    `${count(checks.length, 'contact')} checked.`,
    `${count(violation_count, 'violation')} detected${noisy > 0 ? ` (${noisy} within noise of ${readable(noise)})` : ''}.`,
  ]
  if (unjudged_count > 0) sentences.push(`${count(unjudged_count, 'contact')} without values not judged.`)
  if (withoutFriction > 0)
    sentences.push(
      `${count(withoutFriction, 'pair collides', 'pairs collide')} without friction rows: no cone to check.`,
    )
  const isTold = (check: ConeCheck): boolean =>
    strict_violation_count === 0 ? check.exceeds_limit === false : check.exceeds_limit_strict === true
  const most = checks.filter(isTold).reduce<ConeCheck | undefined>(moreUsed, undefined)
  if (most !== undefined && used(most) >= atLimit)
    sentences.push(
      `Body ${dynamicBody(most)} ${strict_violation_count > 0 ? 'exceeds the' : 'is at'} friction limit (${share(most)}).`,
    )
  return sentences.join(' ')
}

/** The body to name: the first that is not the environment. */
const dynamicBody = ({ body_a_id, body_b_id }: ConeCheck): number =>
  isEnvironment(body_a_id) ? body_b_id : body_a_id

const moreUsed = (most: ConeCheck | undefined, check: ConeCheck): ConeCheck =>
  most === undefined || used(check) > used(most) ? check : most

/** A limit of 0 under a tangent force is exceeded infinitely. */
const used = ({ utilization, total_tangent_force }: ConeCheck): number =>
  utilization ?? ((total_tangent_force ?? 0) > noise ? Number.POSITIVE_INFINITY : 0)

const share = ({ utilization }: ConeCheck): string =>
  utilization === null ? 'tangent force without normal force' : `${(utilization * 100).toFixed(2)}% of mu*Fn`
