/**
 * Words of a text as an index wants them: lower case, Unicode form NFKC, and Chinese, Japanese and Korean, which put no
 * spaces where words end, as overlapping pairs of characters.
 */

/** A run of letters, digits and underscores; marks that belong to a letter stay with it. */
const run = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*/gu

/** Characters that are written without spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々]+/gu

/** One run of unspaced characters as its overlapping pairs; a single character is itself. */
export function pairs(text: string): string[] {
  const characters = [...text]
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`)
}

/** True where a text has characters that are written without spaces between words. */
export const isUnspaced = (text: string): boolean => new RegExp(unspaced.source, 'u').test(text)

/** The text with spaces in its unspaced runs, so that an index that splits at spaces finds their pairs. */
export const spaced = (text: string): string => text.replace(unspaced, (part) => ` ${pairs(part).join(' ')} `)

/** The words of a text in order: whole identifiers, pairs of unspaced characters, everything in lower case. */
export function words(text: string): string[] {
  const plain = text.normalize('NFKC')
  const separated = isUnspaced(plain) ? spaced(plain) : plain
  return separated.match(run)?.map((word) => word.toLowerCase()) ?? []
}

/** The parts of an identifier in lower case: `preSerialization` and `FST_ERR_BODY` have some, `plugin` has none. */
export function identifierParts(word: string): string[] {
  const parts = word
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_]+/)
    .filter((part) => part !== '')
  return parts.length < 2 ? [] : parts.map((part) => part.toLowerCase())
}

/** Longer runs are data and no names. */
const longestName = 60

/** Where a word goes on with a capital, or a run of capitals ends in a word. */
const hump = /[a-z0-9][A-Z]|[A-Z]{2}[a-z]/

/** The text with the parts of each name in camel case behind it, `bodyLimit body limit`, since people ask for those. */
export const withParts = (text: string): string =>
  hump.test(text)
    ? text.replace(/[A-Za-z][A-Za-z0-9]+/g, (word) =>
        word.length <= longestName && hump.test(word) ? [word, ...identifierParts(word)].join(' ') : word,
      )
    : text
