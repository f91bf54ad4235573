import type { BodyId, EnvironmentBody, RecordingSummary } from '../types.ts'

export const environmentBit = 0x8000_0000

export const isEnvironmentId = (id: BodyId): boolean => id >= environmentBit

export const makeEnvironmentBody = (id: BodyId): EnvironmentBody => ({
  body_id: id,
  instance_id: id - environmentBit,
})

/** Returns the recorded id; null if unknown. Bit 31 may be omitted unless a dynamic body has the same number. */
export function resolveBodyId(
  id: number,
  dynamicIds: ReadonlySet<BodyId>,
  environmentIds: ReadonlySet<BodyId>,
): BodyId | null {
  if (dynamicIds.has(id) || environmentIds.has(id)) return id
  const markedId = id + environmentBit
  return environmentIds.has(markedId) ? markedId : null
}

/** Returns the ids in ascending order. */
export const listBodyIds = ({
  bodies,
  appearances,
}: Pick<RecordingSummary, 'bodies' | 'appearances'>): readonly BodyId[] =>
  [...new Set([...bodies, ...appearances].map(({ body_id }) => body_id))].sort((a, b) => a - b)

/** Returns a predicate for the rows of two bodies in either order. */
export const createPairMatcher =
  ([a, b]: readonly [BodyId, BodyId]) =>
  (row: { readonly body_a_id: BodyId; readonly body_b_id: BodyId }): boolean =>
    (row.body_a_id === a && row.body_b_id === b) || (row.body_a_id === b && row.body_b_id === a)
