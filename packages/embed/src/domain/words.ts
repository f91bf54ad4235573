/**
 * Splits texts into lower-case NFKC words. Splits Chinese, Japanese and Korean into overlapping pairs of characters.
 */

const wordPattern = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*/gu

const unspacedPattern = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]+/gu

/** Returns overlapping pairs of characters, or a single character unchanged. */
export function listPairs(text: string): string[] {
  const characters = [...text]
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`)
}

export const isUnspaced = (text: string): boolean => new RegExp(unspacedPattern.source, 'u').test(text)

export const separateWords = (text: string): string =>
  text.replace(unspacedPattern, (unspacedText) => ` ${listPairs(unspacedText).join(' ')} `)

export function splitWords(text: string): string[] {
  const normalizedText = text.normalize('NFKC')
  const separatedText = isUnspaced(normalizedText) ? separateWords(normalizedText) : normalizedText
  return separatedText.match(wordPattern)?.map((word) => word.toLowerCase()) ?? []
}

export function splitIdentifier(word: string): string[] {
  const words = word
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_]+/)
    .filter((word) => word !== '')
  return words.length < 2 ? [] : words.map((word) => word.toLowerCase())
}

const maxNameLength = 60

/** Matches a capital after a lower-case letter or digit, or between a capital and a lower-case letter. */
const camelCasePattern = /[a-z0-9][A-Z]|[A-Z]{2}[a-z]/

/** Appends the parts of camel-case names for searches: `bodyLimit` becomes `bodyLimit body limit`. */
export const addParts = (text: string): string =>
  camelCasePattern.test(text)
    ? text.replace(/[A-Za-z][A-Za-z0-9]+/g, (word) =>
        word.length <= maxNameLength && camelCasePattern.test(word)
          ? [word, ...splitIdentifier(word)].join(' ')
          : word,
      )
    : text
