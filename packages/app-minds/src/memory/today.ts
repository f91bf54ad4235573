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
  /** Bytes of the stems that are kept, about. */
  bytes(): number
  /** Forgets stems until so many bytes are given back; gives the bytes. */
  shrink(bytes: number): number
}

/** Memories taken for the words of a question. */
const top = 50

/** Texts whose stems are kept: the memories of one day are looked at by every decision of it. */
const kept = 8192

/** A text with the set of its stems: words of some six letters, each an object of its own. */
const bytesOf = (text: string): number => 200 + 9 * text.length

/** Makes the search. */
export function daySearch(): DaySearch {
  const known = new Map<string, ReadonlySet<string>>()
  let bytes = 0
  const stemsOf = (text: string): ReadonlySet<string> => {
    const before = known.get(text)
    if (before !== undefined) return before
    const stems = new Set(contentWords(text))
    known.set(text, stems)
    bytes += bytesOf(text)
    const [oldest] = known.keys()
    if (known.size > kept && oldest !== undefined) forget(oldest)
    return stems
  }
  const forget = (text: string): void => {
    known.delete(text)
    bytes -= bytesOf(text)
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
    bytes: () => bytes,
    shrink(wanted) {
      const before = bytes
      for (const text of [...known.keys()]) if (before - bytes < wanted) forget(text)
      return before - bytes
    },
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
