import { CausewayError } from '@causeway/protocol'

/**
 * Returns a page under the name `member`. `hash` identifies the list's version. Throws `INVALID_CURSOR` for a
 * cursor of another version.
 */
export function paginate(
  member: string,
  list: readonly unknown[],
  { cursor, hash, size }: { cursor: unknown; hash: string; size: number },
): object {
  const start = cursor === undefined ? 0 : decodeCursor(cursor, hash, list.length)
  const end = start + size
  const page = { [member]: list.slice(start, end) }
  return end < list.length ? { ...page, nextCursor: encodeCursor(hash, end) } : page
}

const encodeCursor = (hash: string, start: number): string =>
  Buffer.from(`${hash}:${start}`).toString('base64url')

function decodeCursor(cursor: unknown, hash: string, length: number): number {
  const [cursorHash, text] =
    typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString().split(':') : []
  const start = Number(text)
  if (cursorHash === hash && Number.isInteger(start) && start > 0 && start < length) return start
  throw new CausewayError('INVALID_CURSOR', 'the cursor does not belong to this list as it is now')
}
