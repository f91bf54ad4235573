/** Hashes of contents, the same in every process. */
import { createHash } from 'node:crypto'
import { wordsKey } from '../domain/words.ts'

/** SHA-256, hex. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Hash of the meaning words of a text; of the text itself where it has none. */
export const wordsHash = (text: string): string => sha256(wordsKey(text) || text).slice(0, 32)

/**
 * The id of a memory, made when it forms: of the mind, the decision and its place in it, so that a decision that is
 * computed again gives the same. In the form of a UUID of version 8 (RFC 9562).
 */
export function memoryId(...parts: readonly (string | number)[]): string {
  const hex = sha256(parts.join('\u0000'))
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16)
  return `memory_${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
