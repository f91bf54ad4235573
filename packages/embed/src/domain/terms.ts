import { stem } from './stem.ts'
import { stopWords } from './stop-words.ts'
import { identifierParts, words } from './words.ts'

/** The terms that a text is compared by: stems without stop words, and identifiers both whole and in parts. */
export function terms(text: string): string[] {
  const found: string[] = []
  for (const match of text.normalize('NFKC').match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []) {
    for (const word of words(match)) if (isTerm(word)) found.push(stem(word))
    for (const part of identifierParts(match)) if (isTerm(part)) found.push(stem(part))
  }
  return found
}

/** Stop words, single letters and long numbers tell nothing; a single character of an unspaced script does. */
const isTerm = (word: string): boolean =>
  !stopWords.has(word) && !/^(?:[a-z_]|\d{5,}|_+)$/.test(word) && word.length <= 60
