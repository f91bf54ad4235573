/** Words of a sentence that carry meaning, reduced to a stem. */

const stopWords = new Set(
  (
    'a an the and or but if then so of to in on at by for from with about as into over under is are was were be been being am do does did ' +
    'have has had i me my we our you your he she it its they them their this that these those there here what which who whom whose when where ' +
    'why how can could will would shall should may might must not no yes ok please tell told say said says know remember think ' +
    'asked saw met just also very now'
  ).split(' '),
)

/** The stems of the meaning words of a text, lower case, in order, with repeats. */
export const contentWords = (text: string): readonly string[] => searchWords(text).map(stem)

/** The meaning words of a text as they stand, lower case, in order. */
export function searchWords(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+(?:[:'’][\p{L}\p{N}]+)*/gu) ?? [])
    .map((word) => word.replace(/['’]s?$/u, '').replace(/['’]/gu, ''))
    .filter((word) => !stopWords.has(word) && word !== '')
}

/** Takes off the endings that grammar puts on; a rule of thumb, the same on both sides of a comparison. */
function stem(word: string): string {
  if (word.length <= 3 || /\d/.test(word)) return word
  const bare = word
    .replace(/(?:ies)$/, 'y')
    .replace(/(sses|xes|ches|shes)$/, (ending) => ending.slice(0, -2))
    .replace(/([^s])s$/, '$1')
  const cut = bare.replace(/(?:ing|ed|ly|er)$/, '')
  return cut.length >= 3 ? cut.replace(/(.)\1$/, '$1').replace(/e$/, '') : bare.replace(/e$/, '')
}

/** The stems of the meaning words of a text, each once. */
export const stemSet = (text: string): ReadonlySet<string> => new Set(contentWords(text))

/** Share of the meaning words of `asked` that `text` has, 0 to 1; 0 where `asked` has none. */
export const coverage = (asked: string, text: string): number => shareOfStems(stemSet(asked), stemSet(text))

/** Share of some stems that are among others, 0 to 1; 0 where there are none. */
export function shareOfStems(wanted: ReadonlySet<string>, present: ReadonlySet<string>): number {
  if (wanted.size === 0) return 0
  let common = 0
  for (const stem of wanted) if (present.has(stem)) common += 1
  return common / wanted.size
}

/** The meaning words of a text as one key: equal for texts that say the same in another order or with other small words. */
export const wordsKey = (text: string): string => stemsKey(stemSet(text))

/** Stems as one key. */
export const stemsKey = (stems: ReadonlySet<string>): string => [...stems].sort().join(' ')
