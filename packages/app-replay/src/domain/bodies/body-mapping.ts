import type { Body, BodyId, RecordingSummary } from '@causeway/recording'
import { listRecordedNames } from './body-names.ts'

export interface BodyMatch {
  readonly a: BodyId
  readonly b: BodyId
  readonly by: 'id' | 'mass and asset' | 'mass'
}

/** Matches bodies by id, then by mass and asset, then by mass alone, each in recorded order. */
export function matchBodies(
  a: readonly Body[],
  b: readonly Body[],
): {
  readonly matches: readonly BodyMatch[]
  readonly only_a: readonly BodyId[]
  readonly only_b: readonly BodyId[]
} {
  const unmatchedA = new Map(a.map((body) => [body.body_id, body]))
  const unmatchedB = new Map(b.map((body) => [body.body_id, body]))
  const matches: BodyMatch[] = []
  const match = (by: BodyMatch['by'], isSame: (bodyA: Body, bodyB: Body) => boolean): void => {
    for (const bodyA of [...unmatchedA.values()]) {
      const partner = [...unmatchedB.values()].find((candidate) => isSame(bodyA, candidate))
      if (partner === undefined) continue
      unmatchedA.delete(bodyA.body_id)
      unmatchedB.delete(partner.body_id)
      matches.push({ a: bodyA.body_id, b: partner.body_id, by })
    }
  }
  const hasSameMass = (bodyA: Body, bodyB: Body): boolean => bodyA.mass !== null && bodyA.mass === bodyB.mass
  // Runs of a scene use the same ids.
  match('id', (bodyA, bodyB) => bodyA.body_id === bodyB.body_id)
  match(
    'mass and asset',
    (bodyA, bodyB) =>
      hasSameMass(bodyA, bodyB) && bodyA.asset_id !== null && bodyA.asset_id === bodyB.asset_id,
  )
  match('mass', hasSameMass)
  return {
    matches: matches.toSorted((left, right) => left.a - right.a),
    only_a: [...unmatchedA.keys()],
    only_b: [...unmatchedB.keys()],
  }
}

type Surroundings = Pick<RecordingSummary, 'environment_bodies' | 'geometry'>

/**
 * Matches environment bodies by recorded name, then by id. If equally many remain in both recordings, matches them in
 * order. An unmatched body of `a` gets an unused id if a matched body of `b` has its id.
 */
export function matchEnvironment(
  a: Surroundings,
  b: Surroundings,
): readonly { readonly a: BodyId; readonly b: BodyId }[] {
  const [unmatchedA, unmatchedB] = [a, b].map(
    ({ environment_bodies }) => new Set(environment_bodies.map(({ body_id }) => body_id)),
  ) as [Set<BodyId>, Set<BodyId>]
  let lastId = Math.max(...unmatchedA, ...unmatchedB)
  const [namesA, namesB] = [listRecordedNames(a), listRecordedNames(b)]
  const matches: { a: BodyId; b: BodyId }[] = []
  const match = (isSame: (idA: BodyId, idB: BodyId) => boolean): void => {
    for (const idA of [...unmatchedA]) {
      const partner = [...unmatchedB].find((candidate) => isSame(idA, candidate))
      if (partner === undefined) continue
      unmatchedA.delete(idA)
      unmatchedB.delete(partner)
      matches.push({ a: idA, b: partner })
    }
  }
  match((idA, idB) => namesA[idA] !== undefined && namesA[idA] === namesB[idB])
  match((idA, idB) => idA === idB)
  if (unmatchedA.size === unmatchedB.size) match(() => true)
  const matchedIds = new Set(matches.map((match) => match.b))
  for (const id of unmatchedA) if (matchedIds.has(id)) matches.push({ a: id, b: ++lastId })
  return matches
}
