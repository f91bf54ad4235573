import { computeLexicalScores, indexStems, type Postings } from '../domain/lexical.ts'
import { findQuestion } from '../domain/policy/dialogue.ts'
import { findNames, isSimilarName, parseQuestion } from '../domain/question.ts'
import { canBeRelevant, computeDotProduct, type MemoryCandidate, toCandidate } from '../domain/retrieval.ts'
import { makeReplacementTest } from '../domain/supersede.ts'
import { createStemSet, listStems } from '../domain/words.ts'
import type { MemoryRow } from '../store/types.ts'

export interface MemoryQuery {
  readonly text: string
  readonly words: readonly string[]
  /** `undefined` if the text has a zero vector or vectors are unavailable. */
  readonly vector: Float32Array | undefined
}

const maxLexical = 50

/** Added to the score of a memory that contains a name of the query. */
const nameScore = 1
const periodScore = 0.01

const maxTexts = 16_384

export class DailySearch {
  /** Stems by text, oldest first. */
  readonly #stems = new Map<string, ReadonlySet<string>>()
  readonly #postingsByDay = new WeakMap<readonly MemoryRow[], Postings>()
  #bytes = 0

  readonly getStems = (text: string): ReadonlySet<string> => {
    const cachedStems = this.#stems.get(text)
    if (cachedStems !== undefined) return cachedStems
    const stems = createStemSet(text)
    this.#stems.set(text, stems)
    this.#bytes += measureStems(text)
    const [oldestText] = this.#stems.keys()
    if (this.#stems.size > maxTexts && oldestText !== undefined) this.#evict(oldestText)
    return stems
  }

  /** `vectors` are in the order of `today`. */
  find(
    queries: readonly MemoryQuery[],
    today: readonly MemoryRow[],
    vectors: readonly (Float32Array | undefined)[],
  ): readonly (readonly MemoryCandidate[])[] {
    if (today.length === 0) return queries.map(() => [])
    const corrected = new Set(today.filter(this.findCorrections(queries, today)))
    const postings = this.#getPostings(today)
    return queries.map(({ text, vector }) => {
      const options = { memoryCount: today.length, limit: maxLexical }
      const scores = computeLexicalScores([...this.getStems(text)], postings, options)
      const names = findNames(text).flatMap(listStems)
      const isNamed = (row: MemoryRow): boolean =>
        names.some((name) => [...this.getStems(row.content)].some((stem) => isSimilarName(name, stem)))
      // A memory of the period may match without a common word. The ranking checks the time.
      const isQuestion = findQuestion(text) !== undefined
      const hasPeriod = parseQuestion(text, 0).period !== null
      return today.flatMap((row, n) => {
        const rowVector = vectors[n]
        const cosine =
          vector === undefined || rowVector === undefined ? 0 : computeDotProduct(vector, rowVector)
        const lexicalScore = scores.get(row.seq) ?? (hasPeriod ? periodScore : 0)
        const match = {
          cosine,
          lexical: names.length > 0 && isNamed(row) ? lexicalScore + nameScore : lexicalScore,
        }
        return canBeRelevant(match) || isQuestion ? [toCandidate(row, match, corrected.has(row))] : []
      })
    })
  }

  /** Returns a predicate for facts corrected today. Considers only corrections that share a word with a query. */
  findCorrections(queries: readonly MemoryQuery[], today: readonly MemoryRow[]): (row: MemoryRow) => boolean {
    const queryStems = queries.flatMap(({ text }) => [...this.getStems(text)])
    const facts = today.filter(({ kind, content }) => {
      if (kind !== 'fact') return false
      const stems = this.getStems(content)
      return queryStems.some((stem) => stems.has(stem))
    })
    if (facts.length === 0) return () => false
    const todaysFacts = new Set(facts)
    const isReplaced = makeReplacementTest(facts.map((row) => ({ ...row, order: row.seq })))
    return (row) => row.kind === 'fact' && isReplaced(todaysFacts.has(row) ? { ...row, order: row.seq } : row)
  }

  bytes(): number {
    return this.#bytes
  }

  shrink(bytes: number): number {
    const initialBytes = this.#bytes
    for (const text of [...this.#stems.keys()]) if (initialBytes - this.#bytes < bytes) this.#evict(text)
    return initialBytes - this.#bytes
  }

  #getPostings(today: readonly MemoryRow[]): Postings {
    const cachedPostings = this.#postingsByDay.get(today)
    if (cachedPostings !== undefined) return cachedPostings
    const postings = indexStems(today.map(({ seq, content }) => [seq, this.getStems(content)] as const))
    this.#postingsByDay.set(today, postings)
    return postings
  }

  #evict(text: string): void {
    this.#stems.delete(text)
    this.#bytes -= measureStems(text)
  }
}

/** Estimates bytes, assuming stems of six characters. */
const measureStems = (text: string): number => 200 + 9 * text.length
