/** Memories of the day, which are found before a sleep has made them last. */
import { lexicalScores, type Postings, wordPostings } from '../domain/lexical.ts'
import { dot, type Found, mayBeRelevant, type StemsOf } from '../domain/retrieval.ts'
import { replacedBy } from '../domain/supersede.ts'
import { stemSet } from '../domain/words.ts'
import type { MemoryRow } from '../store/types.ts'
import { foundOf, type Question } from './found.ts'

/** Finds among the memories of a day. */
export interface DaySearch {
  /** For each question the memories of the day that may bear on it; `vectors` are theirs, in order. */
  found(
    questions: readonly Question[],
    today: readonly MemoryRow[],
    vectors: readonly (Float32Array | undefined)[],
  ): readonly (readonly Found[])[]
  /** The stems of a text, kept for the next question. */
  readonly stemsOf: StemsOf
  /** True for facts that were told otherwise today in words of a question, though no sleep has sorted that out yet. */
  corrections(questions: readonly Question[], today: readonly MemoryRow[]): (row: MemoryRow) => boolean
  /** Bytes of the stems that are kept, about. */
  bytes(): number
  /** Forgets stems until so many bytes are given back; gives the bytes. */
  shrink(bytes: number): number
}

/** Memories taken for the words of a question. */
const top = 50

/** Texts whose stems are kept: memories that come to mind do so again and again. */
const kept = 16_384

/** A text with the set of its stems: words of some six letters, each an object of its own. */
const bytesOf = (text: string): number => 200 + 9 * text.length

/** Makes the search. */
export function daySearch(): DaySearch {
  const known = new Map<string, ReadonlySet<string>>()
  let bytes = 0
  const stemsOf = (text: string): ReadonlySet<string> => {
    const before = known.get(text)
    if (before !== undefined) return before
    const stems = stemSet(text)
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
  /** Postings of a day, for as long as it is this day. */
  const days = new WeakMap<readonly MemoryRow[], Postings>()
  const postingsOf = (today: readonly MemoryRow[]): Postings => {
    const before = days.get(today)
    if (before !== undefined) return before
    const postings = wordPostings(today.map(({ seq, content }) => [seq, stemsOf(content)] as const))
    days.set(today, postings)
    return postings
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
    stemsOf,
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
      const postings = postingsOf(today)
      return questions.map(({ text, vector }) => {
        const lexical = lexicalScores([...stemsOf(text)], postings, { memories: today.length, most: top })
        return today.flatMap((row, n) => {
          const own = vectors[n]
          const cosine = vector === undefined || own === undefined ? 0 : dot(vector, own)
          const near = { cosine, lexical: lexical.get(row.seq) ?? 0 }
          return mayBeRelevant(near) ? [foundOf(row, near, corrected.has(row))] : []
        })
      })
    },
  }
}
