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

/** `items` must be in ascending order of `getPosition`. */
export function paginate<Item>(
  items: readonly Item[],
  getPosition: (item: Item, index: number) => number,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Page<Item> {
  const from = cursor === undefined ? Number.NEGATIVE_INFINITY : parseCursor(cursor)
  const firstIndex = items.findIndex((item, index) => getPosition(item, index) >= from)
  const first = firstIndex === -1 ? items.length : firstIndex
  const next = items[first + limit]
  return {
    items: items.slice(first, first + limit),
    next_cursor: next === undefined ? null : createCursor(getPosition(next, first + limit)),
  }
}
