/** Search by words: how much the words of a question tell about each memory that has them. */
import { contentWords, searchWords } from './words.ts'

/** word -> rows that have it, ascending or not, each once */
export type Postings = ReadonlyMap<string, readonly number[]>

/** Words of a question, each once by its stem; the rest are small words. */
export function questionWords(question: string): readonly string[] {
  const byStem = new Map<string, string>()
  const stems = contentWords(question)
  for (const [index, word] of searchWords(question).entries()) {
    const stem = stems[index] ?? word
    if (!byStem.has(stem)) byStem.set(stem, word)
  }
  return [...byStem.values()].slice(0, 32)
}

/**
 * Row -> score, the best first: the sum of ln(1 + (N - n + 0.5) / (n + 0.5)) over its words, where n of N memories have the
 * word. That is BM25 for sentences of like length, each word once; N counts this mind's memories alone, so that what
 * one character knows never changes what another remembers.
 */
export function lexicalScores(
  words: readonly string[],
  postings: Postings,
  { memories, most }: { readonly memories: number; readonly most: number },
): ReadonlyMap<number, number> {
  const scores = new Map<number, number>()
  for (const word of new Set(words)) {
    const rows = postings.get(word) ?? []
    const count = Math.min(rows.length, memories)
    const weight = Math.log(1 + (memories - count + 0.5) / (count + 0.5))
    for (const row of rows) scores.set(row, (scores.get(row) ?? 0) + weight)
  }
  if (scores.size <= most) return scores
  return new Map([...scores].sort((a, b) => b[1] - a[1] || b[0] - a[0]).slice(0, most))
}

/** stem -> rows that have it, of rows with their stems */
export function wordPostings(rows: Iterable<readonly [seq: number, stems: ReadonlySet<string>]>): Postings {
  const postings = new Map<string, number[]>()
  for (const [seq, stems] of rows) {
    for (const word of stems) {
      const having = postings.get(word)
      if (having === undefined) postings.set(word, [seq])
      else having.push(seq)
    }
  }
  return postings
}
