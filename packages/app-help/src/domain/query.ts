/** A question as the full text index understands it. Nothing that a caller writes is ever syntax. */
import { identifierParts, isUnspaced, spaced, stopWords, words } from '@causeway/embed'

/** Words of a question by their role. */
export interface Question {
  /** Content words in order, without repeats; all words where nothing else is left. */
  readonly words: readonly string[]
  /** Names as they stand in code, without repeats: `preSerialization`, `FST_ERR_X`, `Mcp-Session-Id`. */
  readonly identifiers: readonly string[]
  /** What stood between quotation marks. */
  readonly phrases: readonly string[]
}

/** Words in which people ask, and which pages hardly use: being rare there, they would weigh more than what is asked. */
const askingWords: ReadonlySet<string> = new Set(
  `actually already always another anybody anyone anything bad best better bit certain come comes don else ever every everybody
  everyone everything exactly good happen happened happens instead isn kind know little lot many maybe mean means much must never nothing often others people please possible quite rather really right say says see somebody somehow someone something
  sometimes still sure tell thing things think though usually wants way ways well whether yet`.split(/\s+/),
)

/** More words than this make a question slow and no better. */
const mostWords = 64

/** Reads a question. */
export function readQuestion(text: string): Question {
  const plain = text.normalize('NFKC')
  const phrases = [...plain.matchAll(/"([^"]{2,200})"|“([^”]{2,200})”/g)]
    .map((match) => words(match[1] ?? match[2] ?? '').join(' '))
    .filter((phrase) => phrase.includes(' '))
  const all = [...new Set(words(plain))]
  const telling = all.filter((word) => !stopWords.has(word) && !askingWords.has(word) && !/^_+$/.test(word))
  return {
    words: (telling.length > 0 ? telling : all).slice(0, mostWords),
    identifiers: [...new Set(plain.match(/[\p{L}_$][\p{L}\p{N}_$.:/-]*[\p{L}\p{N}_]/gu) ?? [])]
      .filter(isIdentifier)
      .slice(0, 16),
    phrases: [...new Set(phrases)].slice(0, 8),
  }
}

/** A name of code rather than a word: of several parts, by its capitals, underscores, dots or hyphens with capitals. */
function isIdentifier(token: string): boolean {
  if (isUnspaced(token)) return false
  if (/[A-Za-z0-9]_[A-Za-z0-9]/.test(token) || /[a-z0-9][A-Z]/.test(token)) return true
  if (/^[A-Z][A-Za-z0-9]*(-[A-Z][A-Za-z0-9]*)+$/.test(token)) return true
  return /^[A-Za-z]\w+(\.[A-Za-z]\w+)+$/.test(token) && !/\.(com|org|net|io|md)$/i.test(token)
}

/** Terms for an index of plain words: words, parts of identifiers and phrases. */
export function wordTerms({ words: content, identifiers, phrases }: Question): string[] {
  const parts = identifiers.flatMap((name) => identifierParts(name)).filter((part) => !stopWords.has(part))
  return [...new Set([...content, ...parts, ...phrases])]
}

/** Terms for the list of those pieces that name an identifier as it is. */
export const identifierTerms = ({ identifiers }: Question): string[] =>
  identifiers.map((name) => words(spaced(name)).join(' ')).filter((term) => term !== '')

/** Terms as an FTS5 expression, any of which may match; each is a string, within which nothing is syntax. */
export const ftsExpression = (terms: readonly string[]): string =>
  terms.map((term) => `"${term.replaceAll('"', '""')}"`).join(' OR ')
