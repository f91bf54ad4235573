import { findNames } from './question.ts'
import { listContentWords, listStems } from './words.ts'

/** Maps each word to the rows (`seq`) that contain it, in any order and without duplicates. */
export type Postings = ReadonlyMap<string, readonly number[]>

/** Number of leading letters assumed to be the same in all spellings of a name. */
const namePrefixLength = 4

/**
 * Returns at most 32 search terms: first a prefix of each longer name as `abcd*`, which matches other spellings and
 * doubles the weight of the name, then one content word per stem.
 */
export function getQueryWords(question: string): readonly string[] {
  const wordsByStem = new Map<string, string>()
  const stems = listStems(question)
  for (const [index, word] of listContentWords(question).entries()) {
    const stem = stems[index] ?? word
    if (!wordsByStem.has(stem)) wordsByStem.set(stem, word)
  }
  const namePrefixes = findNames(question)
    .filter((name) => name.length > namePrefixLength)
    .map((name) => `${name.slice(0, namePrefixLength)}*`)
  return [...new Set([...namePrefixes, ...wordsByStem.values()])].slice(0, 32)
}

/**
 * Returns at most `limit` best rows with their scores: the sum of ln(1 + (N - n + 0.5) / (n + 0.5)) over the words in
 * the row, where n of N memories contain the word (BM25 without length normalization).
 */
export function computeLexicalScores(
  words: readonly string[],
  postings: Postings,
  { memoryCount, limit }: { readonly memoryCount: number; readonly limit: number },
): ReadonlyMap<number, number> {
  const scores = new Map<number, number>()
  for (const word of new Set(words)) {
    const rows = postings.get(word) ?? []
    const count = Math.min(rows.length, memoryCount)
    const weight = Math.log(1 + (memoryCount - count + 0.5) / (count + 0.5))
    for (const row of rows) scores.set(row, (scores.get(row) ?? 0) + weight)
  }
  if (scores.size <= limit) return scores
  return new Map([...scores].sort((a, b) => b[1] - a[1] || b[0] - a[0]).slice(0, limit))
}

export function indexStems(rows: Iterable<readonly [seq: number, stems: ReadonlySet<string>]>): Postings {
  const postings = new Map<string, number[]>()
  for (const [seq, stems] of rows) {
    for (const word of stems) {
      const rowsWithWord = postings.get(word)
      if (rowsWithWord === undefined) postings.set(word, [seq])
      else rowsWithWord.push(seq)
    }
  }
  return postings
}
