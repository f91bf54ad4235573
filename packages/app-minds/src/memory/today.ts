/** Memories of the day, which are found before a sleep has made them last. */
import { lexicalScores, wordPostings } from '../domain/lexical.ts'
import { dot, type Found } from '../domain/retrieval.ts'
import { replacedBy } from '../domain/supersede.ts'
import { contentWords } from '../domain/words.ts'
import type { Material, MemoryRow } from '../store/types.ts'
import { foundOf, type Question } from './found.ts'

/** Memories taken for the words of a question. */
const top = 50

/** For each question all memories of the day; `vectors` are theirs, in order. */
export function todayFound(
  questions: readonly Question[],
  material: Material,
  vectors: readonly (Float32Array | undefined)[],
): readonly (readonly Found[])[] {
  const { today, todayHits } = material
  const isCorrected = correctedToday(material)
  // Few have any of the words, and only those are looked into.
  const hits = new Set(todayHits)
  const postings = wordPostings(today.filter(({ seq }) => hits.has(seq)))
  return questions.map(({ text, vector }) => {
    const lexical = lexicalScores(contentWords(text), postings, { memories: today.length, most: top })
    return today.map((row, n) => {
      const known = vectors[n]
      const cosine = vector === undefined || known === undefined ? 0 : dot(vector, known)
      return foundOf(row, { cosine, lexical: lexical.get(row.seq) ?? 0 }, isCorrected(row))
    })
  })
}

/** True for facts that were told otherwise today, though no sleep has sorted that out yet. */
export function correctedToday({ today, todayHits }: Material): (row: MemoryRow) => boolean {
  const hits = new Set(todayHits)
  const told = today.filter(({ kind, seq }) => kind === 'fact' && hits.has(seq))
  if (told.length === 0) return () => false
  const ofToday = new Set(told)
  const isReplaced = replacedBy(told.map((row) => ({ ...row, order: row.seq })))
  return (row) => row.kind === 'fact' && isReplaced(ofToday.has(row) ? { ...row, order: row.seq } : row)
}
