import type { FileContent } from './types.ts'

/** The same text or the same bytes, or nothing both times. */
export function isSameContent(a: FileContent | undefined, b: FileContent | undefined): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}
