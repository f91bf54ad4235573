/**
 * Splits texts into lower-case NFKC words. Splits Chinese, Japanese and Korean into overlapping pairs of characters.
 */

const wordPattern = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*/gu

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]+/gu

/** Returns overlapping pairs of characters, or a single character unchanged. */
export function listPairs(text: string): string[] {
  const characters = [...text]
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`)
}

export const isUnspaced = (text: string): boolean => new RegExp(unspaced.source, 'u').test(text)

export const separateWords = (text: string): string =>
  text.replace(unspaced, (part) => ` ${listPairs(part).join(' ')} `)

export function splitWords(text: string): string[] {
  const plain = text.normalize('NFKC')
  const separated = isUnspaced(plain) ? separateWords(plain) : plain
  return separated.match(wordPattern)?.map((word) => word.toLowerCase()) ?? []
}

export function splitIdentifier(word: string): string[] {
  const parts = word
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_]+/)
    .filter((part) => part !== '')
  return parts.length < 2 ? [] : parts.map((part) => part.toLowerCase())
}

const maxNameLength = 60

/** Matches a capital after a lower-case letter or digit, or between a capital and a lower-case letter. */
const camelCase = /[a-z0-9][A-Z]|[A-Z]{2}[a-z]/

/** Appends the parts of camel-case names for searches: `bodyLimit` becomes `bodyLimit body limit`. */
export const addParts = (text: string): string =>
  camelCase.test(text)
    ? text.replace(/[A-Za-z][A-Za-z0-9]+/g, (word) =>
        word.length <= maxNameLength && camelCase.test(word)
          ? [word, ...splitIdentifier(word)].join(' ')
          : word,
      )
    : text
