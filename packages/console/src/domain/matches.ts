/** A part of a text. */
export interface TextPart {
  readonly text: string
  readonly isMatch: boolean
}

/** Divides a text into words that begin with a word of the query, and the rest. Words of one or two letters do not match. */
export function findMatches(text: string, query: string): TextPart[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [])]
  if (words.length === 0) return [{ text, isMatch: false }]
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])((?:${words.join('|')})[\\p{L}\\p{N}_]*)`, 'giu')
  return text
    .split(pattern)
    .map((part, index) => ({ text: part, isMatch: index % 2 === 1 }))
    .filter((part) => part.text !== '')
}
