import type { Body, BodyId, RecordingSummary } from '@causeway/recording'
import { listRecordedNames } from './body-names.ts'

export interface BodyMatch {
  readonly a: BodyId
  readonly b: BodyId
  readonly by: 'id' | 'mass and asset' | 'mass'
}

/** Matches bodies by id, then by mass and asset, then by mass, in recorded order. */
export function matchBodies(
  a: readonly Body[],
  b: readonly Body[],
): {
  readonly matches: readonly BodyMatch[]
  readonly only_a: readonly BodyId[]
  readonly only_b: readonly BodyId[]
} {
  const left = new Map(a.map((body) => [body.body_id, body]))
  const right = new Map(b.map((body) => [body.body_id, body]))
  const matches: BodyMatch[] = []
  const match = (by: BodyMatch['by'], isSame: (one: Body, other: Body) => boolean): void => {
    for (const one of [...left.values()]) {
      const other = [...right.values()].find((candidate) => isSame(one, candidate))
      if (other === undefined) continue
      left.delete(one.body_id)
      right.delete(other.body_id)
      matches.push({ a: one.body_id, b: other.body_id, by })
    }
  }
  const sameMass = (one: Body, other: Body): boolean => one.mass !== null && one.mass === other.mass
  // Runs of a scene use the same ids.
  match('id', (one, other) => one.body_id === other.body_id)
  match(
    'mass and asset',
    (one, other) => sameMass(one, other) && one.asset_id !== null && one.asset_id === other.asset_id,
  )
  match('mass', sameMass)
  return {
    matches: matches.toSorted((one, other) => one.a - other.a),
    only_a: [...left.keys()],
    only_b: [...right.keys()],
  }
}

type Surroundings = Pick<RecordingSummary, 'environment_bodies' | 'geometry'>

/**
 * Matches environment bodies by recorded name, then by id, and the rest in order if their numbers are equal. An
 * unmatched body of `a` gets an unused id if a matched body of `b` has its id.
 */
export function matchEnvironment(
  a: Surroundings,
  b: Surroundings,
): readonly { readonly a: BodyId; readonly b: BodyId }[] {
  const [left, right] = [a, b].map(
    ({ environment_bodies }) => new Set(environment_bodies.map(({ body_id }) => body_id)),
  ) as [Set<BodyId>, Set<BodyId>]
  let unused = Math.max(...left, ...right)
  const [namesA, namesB] = [listRecordedNames(a), listRecordedNames(b)]
  const matches: { a: BodyId; b: BodyId }[] = []
  const match = (isSame: (one: BodyId, other: BodyId) => boolean): void => {
    for (const one of [...left]) {
      const other = [...right].find((candidate) => isSame(one, candidate))
      if (other === undefined) continue
      left.delete(one)
      right.delete(other)
      matches.push({ a: one, b: other })
    }
  }
  match((one, other) => namesA[one] !== undefined && namesA[one] === namesB[other])
  match((one, other) => one === other)
  if (left.size === right.size) match(() => true)
  const taken = new Set(matches.map((one) => one.b))
  for (const one of left) if (taken.has(one)) matches.push({ a: one, b: ++unused })
  return matches
}
