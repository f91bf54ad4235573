import type { BodyId, Collision } from '@causeway/recording'
import { formatCount, formatList } from '../sentence.ts'

export function summarizeBodyContacts(
  body: BodyId,
  constraints: number,
  collisions: readonly Collision[],
): string {
  const partners = collisions.map((row) => (row.body_a_id === body ? row.body_b_id : row.body_a_id))
  const touching = collisions.length === 0 ? '' : ` It collides with ${formatList(partners)}.`
  const head = `Found ${formatCount(constraints, 'contact')} involving body ${body}.${touching}`
  if (constraints > 0 || collisions.length === 0) return head
  const points = collisions.reduce((sum, { contacts }) => sum + contacts.length, 0)
  return `${head} No friction rows in this frame: see collisions, ${formatCount(points, 'contact point')}.`
}
