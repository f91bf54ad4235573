import { createHash } from 'node:crypto'
import { createWordsKey } from '../domain/words.ts'

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Returns a hash of a text's stems, or of the whole text if it has none. */
export const hashWords = (text: string): string => sha256(createWordsKey(text) || text).slice(0, 32)

/** Returns `memory_` and a UUID of version 8 (RFC 9562) derived from the parts. */
export function createMemoryId(...parts: readonly (string | number)[]): string {
  const hex = sha256(parts.join('\u0000'))
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16)
  return `memory_${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
