export interface TextPart {
  readonly text: string
  readonly isMatch: boolean
}

/** Common English words, which are not marked. */
const common = new Set(
  'about and are but can could did does for from had has have her his how its may not our out she that the their them then there they this was were what when where which who why will with would you your'.split(
    ' ',
  ),
)

/**
 * Splits a text at words that begin with a word of the query. Words of one or two letters never match. Common words
 * match only if the query has no others.
 */
export function findMatches(text: string, query: string): TextPart[] {
  const allMatches = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [])]
  const rareMatches = allMatches.filter((word) => !common.has(word))
  const words = rareMatches.length === 0 ? allMatches : rareMatches
  if (words.length === 0) return [{ text, isMatch: false }]
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])((?:${words.join('|')})[\\p{L}\\p{N}_]*)`, 'giu')
  return text
    .split(pattern)
    .map((part, index) => ({ text: part, isMatch: index % 2 === 1 }))
    .filter((part) => part.text !== '')
}
