/** Which bodies are the environment, and which contact rows concern a body. */
import { CausewayError } from '@causeway/protocol'
import type { BodyId, RecordingSummary } from '@causeway/recording'

/** Anything recorded between two bodies. */
export interface Pair {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
}

const environmentBit = 0x8000_0000

/** Tells environment bodies (floor, walls) by bit 31 of their id, or by the metadata of eras that had no such bit. */
export function environmentTest({ bodies }: Pick<RecordingSummary, 'bodies'>): (id: BodyId) => boolean {
  const flagged = new Set(bodies.filter(({ is_environment }) => is_environment).map(({ body_id }) => body_id))
  return (id) => id >= environmentBit || flagged.has(id)
}

/** Does the row concern this body, on either side? */
export const involves = ({ body_a_id, body_b_id }: Pair, body: BodyId): boolean =>
  body_a_id === body || body_b_id === body

/** Are both rows between the same bodies, in either order? */
export const isSamePair = (a: Pair, b: Pair): boolean => involves(a, b.body_a_id) && involves(a, b.body_b_id)

/** Throws `INVALID_ARGUMENTS` for a body paired with itself, which never touches. */
export function requireTwo([a, b]: readonly [BodyId, BodyId]): void {
  if (a !== b) return
  throw new CausewayError('INVALID_ARGUMENTS', `body_a_id and body_b_id are the same body ${a}`, {
    data: { problems: [{ argument: 'body_b_id', problem: 'is the same body as body_a_id' }] },
  })
}

/** The bodies of some rows, each once, ascending. */
export const bodiesOf = (rows: readonly Pair[]): BodyId[] =>
  [...new Set(rows.flatMap(({ body_a_id, body_b_id }) => [body_a_id, body_b_id]))].sort((a, b) => a - b)

/** The pairs of some rows, each once, in recorded order. */
export function pairsOf(rows: readonly Pair[]): Pair[] {
  const pairs = new Map(
    rows.map(({ body_a_id, body_b_id }) => [`${body_a_id} ${body_b_id}`, { body_a_id, body_b_id }]),
  )
  return [...pairs.values()]
}
