import { createSparse, type Sparse } from './matrix.ts'

/** Rows of terms, and weights by row: ln((1 + n) / (1 + df)) + 1 if df of n texts contain the term. */
export interface Vocabulary {
  readonly index: ReadonlyMap<string, number>
  readonly weight: Float64Array
}

interface VocabularyOptions {
  /** Minimum number of texts that contain a term. Default: 2, or 1 for fewer than 50 texts. */
  readonly minTexts?: number
  readonly maxTerms?: number
}

/** If there are at least 20 texts, excludes terms that occur in more than half of them. */
export function makeVocabulary(
  texts: readonly (readonly string[])[],
  options: VocabularyOptions = {},
): Vocabulary {
  const { minTexts = texts.length < 50 ? 1 : 2, maxTerms = 30_000 } = options
  const frequency = new Map<string, number>()
  for (const text of texts)
    for (const term of new Set(text)) frequency.set(term, (frequency.get(term) ?? 0) + 1)
  const maxCount = texts.length < 20 ? texts.length : texts.length / 2
  const retainedTerms = [...frequency]
    .filter(([, count]) => count >= minTexts && count <= maxCount)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, maxTerms)
  return {
    index: new Map(retainedTerms.map(([term], i) => [term, i])),
    weight: Float64Array.from(retainedTerms, ([, count]) => Math.log((1 + texts.length) / (1 + count)) + 1),
  }
}

/** Returns (1 + ln tf) * weight by term, normalised to length 1. Empty if no term is known. */
export function computeWeights(text: readonly string[], { index, weight }: Vocabulary): Map<number, number> {
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

export const createTermMatrix = (texts: readonly (readonly string[])[], vocabulary: Vocabulary): Sparse =>
  createSparse(
    texts.map((text) => computeWeights(text, vocabulary)),
    vocabulary.weight.length,
  )
