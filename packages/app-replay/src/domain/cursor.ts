import { CausewayError } from '@causeway/protocol'

/** `position` is a frame id or an index. */
export const createCursor = (position: number): string => `at-${position}`

/** Throws `INVALID_CURSOR`. */
export function parseCursor(cursor: string): number {
  const digits = /^at-(\d{1,15})$/.exec(cursor)?.[1]
  if (digits === undefined) throw new CausewayError('INVALID_CURSOR', `not a cursor: ${cursor.slice(0, 80)}`)
  return Number(digits)
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** `null` on the last page. */
  readonly next_cursor: string | null
}

/** `items` must be sorted by `position`. */
export function paginate<Item>(
  items: readonly Item[],
  position: (item: Item, index: number) => number,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Page<Item> {
  const from = cursor === undefined ? Number.NEGATIVE_INFINITY : parseCursor(cursor)
  const found = items.findIndex((item, index) => position(item, index) >= from)
  const first = found === -1 ? items.length : found
  const next = items[first + limit]
  return {
    items: items.slice(first, first + limit),
    next_cursor: next === undefined ? null : createCursor(position(next, first + limit)),
  }
}
