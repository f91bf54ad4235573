import { type Sparse, sparse } from './sparse.ts'

/** Terms that a model knows, by their row, and the weight of each: ln((1 + n) / (1 + df)) + 1 over n texts. */
export interface Vocabulary {
  readonly index: ReadonlyMap<string, number>
  readonly weight: Float64Array
}

/** Which terms are kept. */
export interface VocabularyOptions {
  /** Texts in which a term must stand at least; 1 among fewer than 50 texts. */
  readonly minTexts?: number
  /** Most terms kept, those of most texts first. */
  readonly mostTerms?: number
}

/** The vocabulary of texts given as their terms. A term that more than half of many texts have is left out. */
export function makeVocabulary(
  texts: readonly (readonly string[])[],
  options: VocabularyOptions = {},
): Vocabulary {
  const { minTexts = texts.length < 50 ? 1 : 2, mostTerms = 30_000 } = options
  const frequency = new Map<string, number>()
  for (const text of texts)
    for (const term of new Set(text)) frequency.set(term, (frequency.get(term) ?? 0) + 1)
  const most = texts.length < 20 ? texts.length : texts.length / 2
  const kept = [...frequency]
    .filter(([, count]) => count >= minTexts && count <= most)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, mostTerms)
  return {
    index: new Map(kept.map(([term], i) => [term, i])),
    weight: Float64Array.from(kept, ([, count]) => Math.log((1 + texts.length) / (1 + count)) + 1),
  }
}

/** A text as weights by term, (1 + ln tf) * weight, of length 1; empty where it has no known term. */
export function weigh(text: readonly string[], { index, weight }: Vocabulary): Map<number, number> {
  const counts = new Map<number, number>()
  for (const term of text) {
    const i = index.get(term)
    if (i !== undefined) counts.set(i, (counts.get(i) ?? 0) + 1)
  }
  let sum = 0
  for (const [i, count] of counts) {
    const value = (1 + Math.log(count)) * (weight[i] ?? 0)
    counts.set(i, value)
    sum += value * value
  }
  const length = Math.sqrt(sum)
  for (const [i, value] of counts) counts.set(i, value / length)
  return counts
}

/** Texts by terms, shape [texts, terms]. */
export const termMatrix = (texts: readonly (readonly string[])[], vocabulary: Vocabulary): Sparse =>
  sparse(
    texts.map((text) => weigh(text, vocabulary)),
    vocabulary.weight.length,
  )
