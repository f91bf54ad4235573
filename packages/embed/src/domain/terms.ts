// cspell:ignore whom
import { stemmer } from 'stemmer'
import { splitIdentifier, splitWords } from './words.ts'

export const stopWords: ReadonlySet<string> = new Set(
  `a about after all also am an and any are as at be because been before being between both but by can could did do does
  doing down during each few for from further get had has have having he her here him his how i if in into is it its
  itself just let like make may me might more most must my no nor not now of off on once one only or other our out over
  own same shall she should so some such than that the their them then there these they this those through to too under
  until up us use used using very want was way we were what when where which while who whom why will with within without
  would you your`.split(/\s+/),
)

/** Returns the Porter stem of a lower-case English word. Returns other words unchanged. */
export const stem = (word: string): string => (/^[a-z]{3,}$/.test(word) ? stemmer(word) : word)

/** Returns stems without stop words, and identifiers both whole and in parts. */
export function listTerms(text: string): string[] {
  const terms: string[] = []
  for (const match of text.normalize('NFKC').match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []) {
    for (const word of splitWords(match)) if (isTerm(word)) terms.push(stem(word))
    for (const part of splitIdentifier(match)) if (isTerm(part)) terms.push(stem(part))
  }
  return terms
}

const isTerm = (word: string): boolean =>
  !stopWords.has(word) && !/^(?:[a-z_]|\d{5,}|_+)$/.test(word) && word.length <= 60
