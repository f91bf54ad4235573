/** The contacts of one body in words. */
import type { BodyId, Collision } from '@causeway/recording'
import { count, several } from './sentence.ts'

/** Says how many friction constraints there are, and what stands in for them where there are none. */
export function bodyContactsSummary(
  body: BodyId,
  constraints: number,
  collisions: readonly Collision[],
): string {
  const partners = collisions.map((row) => (row.body_a_id === body ? row.body_b_id : row.body_a_id))
  const touching = collisions.length === 0 ? '' : ` It collides with ${several(partners)}.`
  const head = `Found ${count(constraints, 'contact')} involving body ${body}.${touching}`
  if (constraints > 0 || collisions.length === 0) return head
  const points = collisions.reduce((sum, { contacts }) => sum + contacts.length, 0)
  return `${head} No friction rows in this frame: see collisions, ${count(points, 'contact point')}.`
}
