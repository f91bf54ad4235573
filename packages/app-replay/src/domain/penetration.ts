/** Pairs that overlap more than they should, m. */
import type { Collision, Value, Vector } from '@causeway/recording'
import type { Pair } from './body.ts'
import { count, pairName, quantity } from './sentence.ts'

/** One pair that overlaps too deep. */
export interface Penetration extends Pair {
  /** of the pair; of its deepest point where the pair's own depth was not recorded */
  readonly penetration_depth: Value
  readonly normal: Vector
  /** greatest depth of a contact point; null where none was recorded */
  readonly max_point_depth: Value
}

const deepest = (depths: readonly Value[]): Value =>
  depths.reduce((most, depth) => (depth !== null && (most === null || depth > most) ? depth : most), null)

/** The overlap of one pair. */
export function penetrationOf({
  body_a_id,
  body_b_id,
  penetration_depth,
  normal,
  contacts,
}: Collision): Penetration {
  const max_point_depth = deepest(contacts.map(({ depth }) => depth))
  return {
    body_a_id,
    body_b_id,
    penetration_depth: penetration_depth ?? max_point_depth,
    normal,
    max_point_depth,
  }
}

/** The greatest overlap of some pairs, and of their points, which may lie a little deeper; null where nothing overlaps. */
export const greatestPenetration = (
  pairs: readonly Penetration[],
): { max_penetration_depth: Value; max_point_depth: Value } => ({
  max_penetration_depth: deepest(pairs.map((pair) => pair.penetration_depth)),
  max_point_depth: deepest(pairs.map((pair) => pair.max_point_depth)),
})

/** Pairs deeper than the threshold; one exactly as deep is not excessive. */
export const excessive = (pairs: readonly Penetration[], threshold: number): Penetration[] =>
  pairs.filter(({ penetration_depth }) => penetration_depth !== null && penetration_depth > threshold)

/** The finding in words, the deepest pair named. */
export function penetrationSummary(pairs: readonly Penetration[], threshold: number): string {
  const found = excessive(pairs, threshold)
  const head = `Found ${count(found.length, 'collision')} of ${pairs.length} with penetration > ${threshold} m`
  const [first, ...rest] = found
  if (first === undefined) {
    const greatest = greatestPenetration(pairs).max_penetration_depth
    return greatest === null ? `${head}.` : `${head}; the deepest is ${quantity(greatest, 'm')}.`
  }
  const most = rest.reduce((a, b) => ((b.penetration_depth ?? 0) > (a.penetration_depth ?? 0) ? b : a), first)
  const pair = pairName(most.body_a_id, most.body_b_id)
  return `${head}; the deepest is ${quantity(most.penetration_depth, 'm')} between ${pair}.`
}
