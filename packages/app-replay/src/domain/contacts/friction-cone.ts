import type { FrictionConstraint, RecordingSummary, Value } from '@causeway/recording'
import { createEnvironmentTest, type Pair } from '../bodies/body.ts'
import { listRecordedNames, nameBodies } from '../bodies/body-names.ts'
import { formatCount, formatNumber, toSentence } from '../sentence.ts'
import { type ForceScale, toNewtons } from './force.ts'

/** Relative tolerance of `exceeds_limit`. */
export const epsilon = 0.01

/** Additional tolerance of `exceeds_limit_strict` in the recorded unit. */
export const coneNoise = 1e-6

export const getConeExcess = (tangent: number, limit: number): number => tangent - limit * (1 + epsilon)

/**
 * The check of a contact against its Coulomb cone |Ft| <= mu * Fn, in the recorded unit. Fields `*_n` are in newtons,
 * if the unit is known.
 */
interface ConeCheck extends Pair {
  readonly friction_coefficient: Value
  readonly normal_force: Value
  /** mu * |normal_force| */
  readonly friction_limit: Value
  readonly tangent1_force: Value
  readonly tangent2_force: Value
  readonly total_tangent_force: Value
  /** total > 1.01 * limit */
  readonly exceeds_limit: boolean | null
  /** total > 1.01 * limit + 1e-6 */
  readonly exceeds_limit_strict: boolean | null
  /** limit - total */
  readonly margin: Value
  /** total / limit; `null` if the limit is 0 or unknown. */
  readonly utilization: Value
  readonly normal_force_n: Value
  readonly friction_limit_n: Value
  readonly total_tangent_force_n: Value
}

export function checkCone(row: FrictionConstraint, scale: ForceScale): ConeCheck {
  const { body_a_id, body_b_id, friction_coefficient, tangent1_lambda, tangent2_lambda } = row
  const normal = row.normal_lambda === null ? null : Math.abs(row.normal_lambda)
  const limit = friction_coefficient === null || normal === null ? null : friction_coefficient * normal
  const total =
    tangent1_lambda === null || tangent2_lambda === null ? null : Math.hypot(tangent1_lambda, tangent2_lambda)
  const isKnown = limit !== null && total !== null
  return {
    body_a_id,
    body_b_id,
    friction_coefficient,
    normal_force: normal,
    friction_limit: limit,
    tangent1_force: tangent1_lambda,
    tangent2_force: tangent2_lambda,
    total_tangent_force: total,
    exceeds_limit: isKnown ? total > limit * (1 + epsilon) : null,
    exceeds_limit_strict: isKnown ? total > limit * (1 + epsilon) + coneNoise : null,
    margin: isKnown ? limit - total : null,
    utilization: isKnown && limit !== 0 ? total / limit : null,
    normal_force_n: toNewtons(normal, scale),
    friction_limit_n: toNewtons(limit, scale),
    total_tangent_force_n: toNewtons(total, scale),
  }
}

interface ConeVerdict {
  readonly violation_count: number
  readonly strict_violation_count: number
  readonly unjudged_count: number
  /** `index` is the position in the list of checks. */
  readonly exceeding: readonly (Pair & { readonly index: number; readonly utilization: Value })[]
}

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

const limitUtilization = 0.99

export function summarizeCones(
  checks: readonly ConeCheck[],
  verdict: ConeVerdict,
  {
    withoutFriction,
    summary,
  }: { readonly withoutFriction: number; readonly summary: Pick<RecordingSummary, 'bodies' | 'geometry'> },
): string {
  const { violation_count, strict_violation_count, unjudged_count } = verdict
  const noisyCount = violation_count - strict_violation_count
  const sentences = [
    `${formatCount(checks.length, 'contact')} checked.`,
    `${formatCount(violation_count, 'violation')} detected${noisyCount > 0 ? ` (${noisyCount} within noise of ${formatNumber(coneNoise)})` : ''}.`,
  ]
  if (unjudged_count > 0)
    sentences.push(`${formatCount(unjudged_count, 'contact')} without values not judged.`)
  if (withoutFriction > 0)
    sentences.push(
      `${formatCount(withoutFriction, 'pair collides', 'pairs collide')} without friction rows: no cone to check.`,
    )
  const isRelevant = (check: ConeCheck): boolean =>
    strict_violation_count === 0 ? check.exceeds_limit === false : check.exceeds_limit_strict === true
  const peakCheck = checks.filter(isRelevant).reduce<ConeCheck | undefined>(chooseMoreUtilized, undefined)
  if (peakCheck !== undefined && getEffectiveUtilization(peakCheck) >= limitUtilization)
    sentences.push(
      toSentence(
        `${nameDynamicBody(peakCheck, summary)} ${strict_violation_count > 0 ? 'exceeds the' : 'is at'} friction limit (${formatUtilization(peakCheck)})`,
      ),
    )
  return sentences.join(' ')
}

function nameDynamicBody(
  { body_a_id, body_b_id }: ConeCheck,
  summary: Pick<RecordingSummary, 'bodies' | 'geometry'>,
): string {
  const body = createEnvironmentTest(summary)(body_a_id) ? body_b_id : body_a_id
  return nameBodies([body], listRecordedNames(summary))
}

const chooseMoreUtilized = (current: ConeCheck | undefined, check: ConeCheck): ConeCheck =>
  current === undefined || getEffectiveUtilization(check) > getEffectiveUtilization(current) ? check : current

/** Returns infinity if a tangent force acts although the limit is 0. */
const getEffectiveUtilization = ({ utilization, total_tangent_force }: ConeCheck): number =>
  utilization ?? ((total_tangent_force ?? 0) > coneNoise ? Number.POSITIVE_INFINITY : 0)

const formatUtilization = ({ utilization }: ConeCheck): string => {
  if (utilization === null) return 'tangent force without normal force'
  const percent = utilization * 100
  return `${percent < 10_000 ? percent.toFixed(2) : formatNumber(percent)}% of mu*Fn`
}
