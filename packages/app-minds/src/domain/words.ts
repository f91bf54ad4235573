const stopWords = new Set(
  (
    'a an the and or but if then so of to in on at by for from with about as into over under is are was were be been being am do does did ' +
    'have has had i me my we our you your he she it its they them their this that these those there here what which who whom whose when where ' +
    'why how can could will would shall should may might must not no yes ok please tell told say said says know remember think ' +
    'asked saw met just also very now him us own some any'
  ).split(' '),
)

export const listStems = (text: string): readonly string[] => listContentWords(text).map(stem)

/** Returns the content words in lower case and in order, with repetitions. */
export function listContentWords(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+(?:[:'’][\p{L}\p{N}]+)*/gu) ?? [])
    .map((word) => word.replace(/['’]s?$/u, '').replace(/['’]/gu, ''))
    .filter((word) => !stopWords.has(word) && word !== '')
}

export function stem(word: string): string {
  if (word.length <= 3 || /\d/.test(word)) return word
  const singular = word
    .replace(/(?:ies)$/, 'y')
    .replace(/(sses|xes|ches|shes)$/, (ending) => ending.slice(0, -2))
    .replace(/([^s])s$/, '$1')
  const root = singular.replace(/(?:ing|ed|ly|er)$/, '')
  return root.length >= 3 ? root.replace(/(.)\1$/, '$1').replace(/e$/, '') : singular.replace(/e$/, '')
}

export type StemFunction = (text: string) => ReadonlySet<string>

export const createStemSet = (text: string): ReadonlySet<string> => new Set(listStems(text))

/** Returns the fraction of `queryStems` in `memoryStems`, or 0 if `queryStems` is empty. */
export function computeStemShare(queryStems: ReadonlySet<string>, memoryStems: ReadonlySet<string>): number {
  if (queryStems.size === 0) return 0
  let commonCount = 0
  for (const stem of queryStems) if (memoryStems.has(stem)) commonCount += 1
  return commonCount / queryStems.size
}

/** Returns the same key for texts with the same stems. */
export const createWordsKey = (text: string): string => createStemsKey(createStemSet(text))

export const createStemsKey = (stems: ReadonlySet<string>): string => [...stems].sort().join(' ')
