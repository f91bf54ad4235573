import { stem } from '@causeway/embed'

export type TermKind = 'stem' | 'exact'

export interface TermVector {
  /** Text of a `tsvector`, by which rows and phrases are found. */
  readonly vector: string
  /** JSON object with the weighted frequency of each term. Reading it from a `tsvector` is slow. */
  readonly frequencies: string
  readonly length: number
}

/** Limits of a `tsvector`: largest position, positions per term, and characters of a term (at most 2046 bytes). */
const [maxPosition, maxPositions, maxCharacters] = [16_383, 256, 500]

/**
 * Splits a text as SQLite's tokenizers do (`unicode61`, with `porter` for stems), so that both storages rank equally.
 */
export function splitTerms(text: string, kind: TermKind): string[] {
  const normalizedText = text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
  const tokens =
    normalizedText.match(kind === 'stem' ? /[\p{L}\p{N}\p{Co}]+/gu : /[\p{L}\p{N}\p{Co}_]+/gu) ?? []
  return tokens.map((word) => (kind === 'stem' ? stem(word) : word).slice(0, maxCharacters))
}

/** Weights of the columns in the score, and the labels of their positions. */
export type Columns = readonly (readonly [label: 'A' | 'B' | 'D', weight: number])[]

export const itemColumns: Columns = [
  ['A', 5],
  ['B', 3],
  ['D', 1],
]
export const docColumns: Columns = [
  ['A', 3],
  ['B', 3],
  ['D', 1],
]
export const linkColumns: Columns = [['D', 1]]

/** Skips a position after each column, so that phrases do not span columns. */
export function countTerms(texts: readonly string[], columns: Columns, kind: TermKind): TermVector {
  const terms = new Map<string, { frequency: number; readonly positions: string[] }>()
  let position = 0
  let length = 0
  for (const [columnIndex, [label, weight]] of columns.entries()) {
    for (const term of splitTerms(texts[columnIndex] ?? '', kind)) {
      const entry = terms.get(term) ?? { frequency: 0, positions: [] }
      terms.set(term, entry)
      entry.frequency += weight
      position++
      length++
      if (position <= maxPosition && entry.positions.length < maxPositions)
        entry.positions.push(`${position}${label}`)
    }
    position++
  }
  return {
    vector: [...terms]
      .map(([term, { positions }]) => `'${term}'${positions.length === 0 ? '' : `:${positions.join(',')}`}`)
      .join(' '),
    frequencies: JSON.stringify(
      Object.fromEntries([...terms].map(([term, { frequency }]) => [term, frequency])),
    ),
    length,
  }
}

/** Returns the query's terms as `tsquery` strings, each a word or a phrase, and their words. */
export function createQueryTerms(
  terms: readonly string[],
  kind: TermKind,
): { readonly queries: readonly string[]; readonly words: readonly string[] } {
  const termWords = terms.map((term) => splitTerms(term, kind)).filter((words) => words.length > 0)
  return {
    queries: termWords.map((words) => words.map((word) => `'${word}'`).join(' <-> ')),
    words: termWords.map((words) => words.join(' ')),
  }
}
