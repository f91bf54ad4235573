/**
 * The stem of an English word after Porter's algorithm of 1980, with the two changes of its author's own
 * implementation (`abli` is `bli`, `logi` is `log`). The word is in lower case; anything but a-z is left as it is.
 */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word
  return tidyEnd(
    dropEnding(replaceAll(replaceAll(terminalY(pastTense(plural(word))), nounEndings), smallEndings)),
  )
}

/** Endings of step 2, longest first where one ends in another, with what stands for them. */
const nounEndings: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]

/** Endings of step 3. */
const smallEndings: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]

/** Endings of step 4, which go where enough of a word is left. */
const endings = /(ement|ance|ence|able|ible|ment|ion|ant|ent|ism|ate|iti|ous|ive|ize|al|er|ic|ou)$/

const consonant = '(?:[^aeiouy]|(?<=[aeiou])y|^y)'
const vowel = '(?:[aeiou]|(?<=[^aeiou])y)'
const measureParts = new RegExp(`${vowel}+${consonant}+`, 'g')
const anyVowel = new RegExp(vowel)
const shortEnd = new RegExp(`${consonant}${vowel}(?:[^aeiouywx])$`)

/** How many vowel-consonant sequences a stem has: m in Porter's paper. */
const measure = (part: string): number => part.match(measureParts)?.length ?? 0

const endsDouble = (word: string): boolean => /([^aeiouy])\1$/.test(word)

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function pastTense(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const ending = /(?:ed|ing)$/.exec(word)?.[0]
  if (ending === undefined) return word
  const rest = word.slice(0, -ending.length)
  if (!anyVowel.test(rest)) return word
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`
  if (endsDouble(rest) && !/[lsz]$/.test(rest)) return rest.slice(0, -1)
  return measure(rest) === 1 && shortEnd.test(rest) ? `${rest}e` : rest
}

const terminalY = (word: string): string =>
  word.endsWith('y') && anyVowel.test(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word

function replaceAll(word: string, table: readonly (readonly [string, string])[]): string {
  for (const [ending, other] of table) {
    if (!word.endsWith(ending)) continue
    const rest = word.slice(0, -ending.length)
    return measure(rest) > 0 ? rest + other : word
  }
  return word
}

function dropEnding(word: string): string {
  const ending = endings.exec(word)?.[0]
  if (ending === undefined) return word
  const rest = word.slice(0, -ending.length)
  if (ending === 'ion' && !/[st]$/.test(rest)) return word
  return measure(rest) > 1 ? rest : word
}

function tidyEnd(word: string): string {
  let end = word
  if (end.endsWith('e')) {
    const rest = end.slice(0, -1)
    const parts = measure(rest)
    if (parts > 1 || (parts === 1 && !shortEnd.test(rest))) end = rest
  }
  return endsDouble(end) && end.endsWith('l') && measure(end) > 1 ? end.slice(0, -1) : end
}
