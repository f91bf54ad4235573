import type { Collision, Value, Vector } from '@causeway/recording'
import type { Pair } from '../bodies/body.ts'
import { type BodyNames, nameBodies } from '../bodies/body-names.ts'
import { formatCount, formatQuantity } from '../sentence.ts'

export interface Penetration extends Pair {
  /** m. Default: depth of the deepest point. */
  readonly penetration_depth: Value
  readonly normal: Vector
  /** m */
  readonly max_point_depth: Value
}

const findDeepest = (depths: readonly Value[]): Value =>
  depths.reduce((most, depth) => (depth !== null && (most === null || depth > most) ? depth : most), null)

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

export const filterExcessive = (pairs: readonly Penetration[], threshold: number): Penetration[] =>
  pairs.filter(({ penetration_depth }) => penetration_depth !== null && penetration_depth > threshold)

export function summarizePenetrations(
  pairs: readonly Penetration[],
  threshold: number,
  names: BodyNames,
): string {
  const found = filterExcessive(pairs, threshold)
  const head = `Found ${formatCount(found.length, 'collision')} of ${pairs.length} with penetration > ${threshold} m`
  const [first, ...rest] = found
  if (first === undefined) {
    const greatest = findMaxPenetration(pairs).max_penetration_depth
    return greatest === null ? `${head}.` : `${head}; the deepest is ${formatQuantity(greatest, 'm')}.`
  }
  const most = rest.reduce((a, b) => ((b.penetration_depth ?? 0) > (a.penetration_depth ?? 0) ? b : a), first)
  const pair = nameBodies([most.body_a_id, most.body_b_id], names)
  return `${head}; the deepest is ${formatQuantity(most.penetration_depth, 'm')} between ${pair}.`
}
