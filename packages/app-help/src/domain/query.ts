// cspell:ignore somebody tell -- words of questions
import { isUnspaced, separateWords, splitIdentifier, splitWords, stopWords } from '@causeway/embed'

export interface Question {
  /** Unique content words in order, or all words if there are no content words. */
  readonly words: readonly string[]
  /** Identifiers such as `FST_ERR_X` and `Mcp-Session-Id`. */
  readonly identifiers: readonly string[]
  readonly phrases: readonly string[]
}

/** Words of questions, whose weight would be too high because documentation rarely contains them. */
const questionWords: ReadonlySet<string> = new Set(
  `actually already always another anybody anyone anything bad best better bit certain come comes don else ever every everybody
  everyone everything exactly good happen happened happens instead isn kind know little lot many maybe mean means much must never nothing often others people please possible quite rather really right say says see somebody somehow someone something
  sometimes still sure tell thing things think though usually wants way ways well whether yet`.split(/\s+/),
)

/** Matches pairs of Japanese characters that begin with a particle or an ending. */
const hiraganaStart = /^\p{Script=Hiragana}/u

const maxWords = 64

export function readQuestion(text: string): Question {
  const normalizedText = text.normalize('NFKC')
  const phrases = [...normalizedText.matchAll(/"([^"]{2,200})"|“([^”]{2,200})”/g)]
    .map((match) => splitWords(match[1] ?? match[2] ?? '').join(' '))
    .filter((phrase) => phrase.includes(' '))
  const uniqueWords = [...new Set(splitWords(normalizedText))]
  const specificWords = uniqueWords.filter(
    (word) =>
      !stopWords.has(word) && !questionWords.has(word) && !hiraganaStart.test(word) && !/^_+$/.test(word),
  )
  return {
    words: (specificWords.length > 0 ? specificWords : uniqueWords).slice(0, maxWords),
    identifiers: [...new Set(normalizedText.match(/[\p{L}_$][\p{L}\p{N}_$.:/-]*[\p{L}\p{N}_]/gu) ?? [])]
      .filter(isIdentifier)
      .slice(0, 16),
    phrases: [...new Set(phrases)].slice(0, 8),
  }
}

function isIdentifier(token: string): boolean {
  if (isUnspaced(token)) return false
  if (/[A-Za-z0-9]_[A-Za-z0-9]/.test(token) || /[a-z0-9][A-Z]/.test(token)) return true
  if (/^[A-Z][A-Za-z0-9]*(-[A-Z][A-Za-z0-9]*)+$/.test(token)) return true
  return /^[A-Za-z]\w+(\.[A-Za-z]\w+)+$/.test(token) && !/\.(com|org|net|io|md)$/i.test(token)
}

export function listWordTerms({ words: content, identifiers, phrases }: Question): string[] {
  const identifierParts = identifiers
    .flatMap((name) => splitIdentifier(name))
    .filter((part) => !stopWords.has(part))
  return [...new Set([...content, ...identifierParts, ...phrases])]
}

/** Whether most terms are character pairs from a script without spaces. Such pairs do not have stems. */
export const isMostlyUnspaced = (terms: readonly string[]): boolean =>
  terms.filter(isUnspaced).length * 2 > terms.length

export const listIdentifierTerms = ({ identifiers }: Question): string[] =>
  identifiers.map((name) => splitWords(separateWords(name)).join(' ')).filter((term) => term !== '')

/** Matches any of the terms. */
export const formatFtsExpression = (terms: readonly string[]): string =>
  terms.map((term) => `"${term.replaceAll('"', '""')}"`).join(' OR ')

/** Queries omit frequent words only if the index has at least this many chunks. */
export const minItemsForOmission = 5000

/** Omits words in over a quarter of the chunks unless no others match. Such words are slow and hardly affect ranks. */
export function selectRareTerms(
  terms: readonly string[],
  items: number,
  countChunks: (term: string) => number,
): readonly string[] {
  const rareTerms = terms.filter((term) => countChunks(term) * 4 <= items)
  return rareTerms.some((term) => term.includes(' ') || countChunks(term) > 0) ? rareTerms : terms
}
