/** The place where a list goes on: opaque to callers, one position inside. */
import { CausewayError } from '@causeway/protocol'

/** Makes the cursor of a position: a frame id, or an index. */
export const cursorAt = (position: number): string => `at-${position}`

/** The position behind a cursor; throws `INVALID_CURSOR`. */
export function positionOf(cursor: string): number {
  const digits = /^at-(\d{1,15})$/.exec(cursor)?.[1]
  if (digits === undefined) throw new CausewayError('INVALID_CURSOR', `not a cursor: ${cursor.slice(0, 80)}`)
  return Number(digits)
}

/** A part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** null on the last page */
  readonly next_cursor: string | null
}

/** At most `limit` items whose position (ascending over the list) is at the cursor or behind it. */
export function page<Item>(
  items: readonly Item[],
  position: (item: Item, index: number) => number,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Page<Item> {
  const from = cursor === undefined ? Number.NEGATIVE_INFINITY : positionOf(cursor)
  const found = items.findIndex((item, index) => position(item, index) >= from)
  const first = found === -1 ? items.length : found
  const next = items[first + limit]
  return {
    items: items.slice(first, first + limit),
    next_cursor: next === undefined ? null : cursorAt(position(next, first + limit)),
  }
}
