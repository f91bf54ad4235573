/** Memories of the day, which are found before a sleep has made them last. */
import { lexicalScores, wordPostings } from '../domain/lexical.ts'
import { dot, type Found } from '../domain/retrieval.ts'
import { replacedBy } from '../domain/supersede.ts'
import { contentWords } from '../domain/words.ts'
import type { MemoryRow } from '../store/types.ts'
import { foundOf, type Question } from './found.ts'

/** Finds among the memories of a day. */
export interface DaySearch {
  /** For each question all memories of the day; `vectors` are theirs, in order. */
  found(
    questions: readonly Question[],
    today: readonly MemoryRow[],
    vectors: readonly (Float32Array | undefined)[],
  ): readonly (readonly Found[])[]
  /** True for facts that were told otherwise today in words of a question, though no sleep has sorted that out yet. */
  corrections(questions: readonly Question[], today: readonly MemoryRow[]): (row: MemoryRow) => boolean
}

/** Memories taken for the words of a question. */
const top = 50

/** Texts whose stems are kept: the memories of one day are looked at by every decision of it. */
const kept = 8192

/** Makes the search. */
export function daySearch(): DaySearch {
  const known = new Map<string, ReadonlySet<string>>()
  const stemsOf = (text: string): ReadonlySet<string> => {
    const before = known.get(text)
    if (before !== undefined) return before
    const stems = new Set(contentWords(text))
    known.set(text, stems)
    if (known.size > kept) known.delete(known.keys().next().value as string)
    return stems
  }
  const corrections: DaySearch['corrections'] = (questions, today) => {
    const asked = questions.flatMap(({ text }) => [...stemsOf(text)])
    const told = today.filter(({ kind, content }) => {
      if (kind !== 'fact') return false
      const stems = stemsOf(content)
      return asked.some((stem) => stems.has(stem))
    })
    if (told.length === 0) return () => false
    const ofToday = new Set(told)
    const isReplaced = replacedBy(told.map((row) => ({ ...row, order: row.seq })))
    return (row) => row.kind === 'fact' && isReplaced(ofToday.has(row) ? { ...row, order: row.seq } : row)
  }
  return {
    corrections,
    found(questions, today, vectors) {
      if (today.length === 0) return questions.map(() => [])
      const isCorrected = corrections(questions, today)
      const corrected = new Set(today.filter(isCorrected))
      const postings = wordPostings(today.map(({ seq, content }) => [seq, stemsOf(content)] as const))
      return questions.map(({ text, vector }) => {
        const lexical = lexicalScores([...stemsOf(text)], postings, { memories: today.length, most: top })
        return today.map((row, n) => {
          const own = vectors[n]
          const cosine = vector === undefined || own === undefined ? 0 : dot(vector, own)
          return foundOf(row, { cosine, lexical: lexical.get(row.seq) ?? 0 }, corrected.has(row))
        })
      })
    },
  }
}
