import { CausewayError } from '@causeway/protocol'
import { type BodyId, isEnvironmentId, type RecordingSummary } from '@causeway/recording'

export interface Pair {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
}

/** Older recordings mark environment bodies in their metadata, not with bit 31. */
export function createEnvironmentTest(summary: Pick<RecordingSummary, 'bodies'>): (id: BodyId) => boolean {
  const flaggedBodies = listFlaggedBodies(summary)
  return (id) => isEnvironmentId(id) || flaggedBodies.has(id)
}

export const listFlaggedBodies = ({ bodies }: Pick<RecordingSummary, 'bodies'>): ReadonlySet<BodyId> =>
  new Set(bodies.filter(({ is_environment }) => is_environment).map(({ body_id }) => body_id))

export const involvesBody = ({ body_a_id, body_b_id }: Pair, body: BodyId): boolean =>
  body_a_id === body || body_b_id === body

/** In either order. */
export const isSamePair = (a: Pair, b: Pair): boolean =>
  involvesBody(a, b.body_a_id) && involvesBody(a, b.body_b_id)

/** Throws `INVALID_ARGUMENTS` if both are the same body. */
export function requireDistinctBodies([a, b]: readonly [BodyId, BodyId]): void {
  if (a !== b) return
  throw new CausewayError('INVALID_ARGUMENTS', `body_a_id and body_b_id are the same body ${a}`, {
    data: { problems: [{ argument: 'body_b_id', problem: 'is the same body as body_a_id' }] },
  })
}

/** Returns each body once, ascending. */
export const listBodies = (rows: readonly Pair[]): BodyId[] =>
  [...new Set(rows.flatMap(({ body_a_id, body_b_id }) => [body_a_id, body_b_id]))].sort((a, b) => a - b)

/** Returns each pair once, in recorded order. */
export function listPairs(rows: readonly Pair[]): Pair[] {
  const pairs = new Map(
    rows.map(({ body_a_id, body_b_id }) => [`${body_a_id} ${body_b_id}`, { body_a_id, body_b_id }]),
  )
  return [...pairs.values()]
}
