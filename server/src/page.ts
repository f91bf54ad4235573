/** Pages of a list. A cursor belongs to one state of one list and is opaque to the client. */
import { CausewayError } from '@causeway/protocol'

/** One page, and the cursor of the next where there is one. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string
}

/**
 * The page that a cursor asks for, the first without one. `hash` is the state of the list: a cursor made for another
 * state would skip or repeat entries, so it is refused with `INVALID_CURSOR`.
 */
export function pageOf<Item>(
  list: readonly Item[],
  { cursor, hash, size }: { cursor: unknown; hash: string; size: number },
): Page<Item> {
  const start = cursor === undefined ? 0 : startOf(cursor, hash, list.length)
  const end = start + size
  const items = list.slice(start, end)
  return end < list.length ? { items, nextCursor: encode(hash, end) } : { items }
}

const encode = (hash: string, start: number): string => Buffer.from(`${hash}:${start}`).toString('base64url')

function startOf(cursor: unknown, hash: string, length: number): number {
  const [of, start] = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString().split(':') : []
  const at = Number(start)
  if (of === hash && Number.isInteger(at) && at > 0 && at < length) return at
  throw new CausewayError('INVALID_CURSOR', 'the cursor does not belong to this list as it is now')
}
