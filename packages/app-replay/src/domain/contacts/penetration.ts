import type { Collision, Value, Vector } from '@causeway/recording'
import type { Pair } from '../bodies/body.ts'
import { type BodyNames, nameBodies } from '../bodies/body-names.ts'
import { formatCount, formatQuantity } from '../sentence.ts'

export interface Penetration extends Pair {
  /** Recorded depth of the pair in m, or `max_point_depth` if not recorded. */
  readonly penetration_depth: Value
  readonly normal: Vector
  /** Depth of the deepest contact point in m. */
  readonly max_point_depth: Value
}

const findDeepest = (depths: readonly Value[]): Value =>
  depths.reduce((max, depth) => (depth !== null && (max === null || depth > max) ? depth : max), null)

export function toPenetration({
  body_a_id,
  body_b_id,
  penetration_depth,
  normal,
  contacts,
}: Collision): Penetration {
  const max_point_depth = findDeepest(contacts.map(({ depth }) => depth))
  return {
    body_a_id,
    body_b_id,
    penetration_depth: penetration_depth ?? max_point_depth,
    normal,
    max_point_depth,
  }
}

export const findMaxPenetration = (
  pairs: readonly Penetration[],
): { max_penetration_depth: Value; max_point_depth: Value } => ({
  max_penetration_depth: findDeepest(pairs.map((pair) => pair.penetration_depth)),
  max_point_depth: findDeepest(pairs.map((pair) => pair.max_point_depth)),
})

export const filterExcessivePenetrations = (
  pairs: readonly Penetration[],
  threshold: number,
): Penetration[] =>
  pairs.filter(({ penetration_depth }) => penetration_depth !== null && penetration_depth > threshold)

export function summarizePenetrations(
  pairs: readonly Penetration[],
  threshold: number,
  names: BodyNames,
): string {
  const excessivePairs = filterExcessivePenetrations(pairs, threshold)
  const head = `Found ${formatCount(excessivePairs.length, 'collision')} of ${pairs.length} with penetration > ${threshold} m`
  const [first, ...rest] = excessivePairs
  if (first === undefined) {
    const maxDepth = findMaxPenetration(pairs).max_penetration_depth
    return maxDepth === null ? `${head}.` : `${head}; the deepest is ${formatQuantity(maxDepth, 'm')}.`
  }
  const deepest = rest.reduce(
    (a, b) => ((b.penetration_depth ?? 0) > (a.penetration_depth ?? 0) ? b : a),
    first,
  )
  const pair = nameBodies([deepest.body_a_id, deepest.body_b_id], names)
  return `${head}; the deepest is ${formatQuantity(deepest.penetration_depth, 'm')} between ${pair}.`
}
