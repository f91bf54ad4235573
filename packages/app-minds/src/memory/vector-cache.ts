/** Vectors of minds in memory, loaded when a mind is searched, the least used thrown away above a number of bytes. */
import { cosineAt, type Near, nearestRows, type Table } from '../domain/vector-scan.ts'

/** A question to the vectors of one mind. */
export interface VectorQuestion {
  readonly mindSeq: number
  readonly embedderId: string
  readonly width: number
  /** Unit vectors. */
  readonly queries: readonly Float32Array[]
  readonly top: number
  /** Rows whose cosine is wanted too. */
  readonly also: readonly number[]
  /** The last row that has a vector: the cache reads those that it has not up to there. */
  readonly last: number
}

/** For each query: memory row -> cosine. */
export type VectorAnswer = readonly (readonly (readonly [seq: number, cosine: number])[])[]

/** A row with its vector, float32. */
export interface LoadedVector {
  readonly memory_seq: number
  readonly vec: Uint8Array
}

/** Rows of a mind from after one on, ascending. */
export type LoadVectors = (mindSeq: number, embedderId: string, after: number) => Iterable<LoadedVector>

/** Searches vectors. */
export interface VectorCache {
  search(question: VectorQuestion): VectorAnswer
  /** Forgets a mind: rows were removed or added out of order. */
  drop(mindSeq: number): void
  readonly bytes: number
  /** Forgets minds until so many bytes are given back, the longest unasked first; gives the bytes. */
  shrink(bytes: number): number
}

interface Entry {
  seqs: number[]
  rows: Map<number, number>
  values: Float32Array
  width: number
  /** What was found for a question before, for as long as the rows are these: characters ask the same again and again. */
  known: WeakMap<Float32Array, readonly Near[]>
}

/** Makes a cache over a source. */
export function vectorCache(load: LoadVectors, mostBytes: number): VectorCache {
  const entries = new Map<string, Entry>()
  let bytes = 0
  const remove = (key: string): void => {
    const entry = entries.get(key)
    if (entry === undefined) return
    bytes -= entry.values.byteLength
    entries.delete(key)
  }
  const current = ({ mindSeq, embedderId, width, last }: VectorQuestion): Entry => {
    const key = `${mindSeq}|${embedderId}`
    const entry = entries.get(key) ?? newEntry(width)
    remove(key)
    const held = entry.seqs.at(-1) ?? 0
    if (last > held) extend(entry, load(mindSeq, embedderId, held))
    entries.set(key, entry)
    bytes += entry.values.byteLength
    // The first keys are the least used: an entry is put back at the end with each use.
    for (const oldest of entries.keys()) {
      if (bytes <= mostBytes || oldest === key) break
      remove(oldest)
    }
    return entry
  }
  return {
    search(question) {
      const entry = current(question)
      return question.queries.map((query) => answer(entry, query, question))
    },
    drop(mindSeq) {
      for (const key of [...entries.keys()]) if (key.startsWith(`${mindSeq}|`)) remove(key)
    },
    get bytes() {
      return bytes
    },
    shrink(wanted) {
      const before = bytes
      for (const key of [...entries.keys()]) if (before - bytes < wanted) remove(key)
      return before - bytes
    },
  }
}

const newEntry = (width: number): Entry => ({
  seqs: [],
  rows: new Map(),
  values: new Float32Array(0),
  width,
  known: new WeakMap(),
})

function answer(
  { seqs, rows, values, width, known }: Entry,
  query: Float32Array,
  { top, also }: VectorQuestion,
): readonly (readonly [number, number])[] {
  const table: Table = { values, width, count: seqs.length }
  const near = known.get(query) ?? nearestRows(table, query, top)
  if (seqs.length > scanned) known.set(query, near)
  const found = new Map<number, number>()
  for (const { row, cosine } of near) found.set(seqs[row] as number, cosine)
  for (const seq of also) {
    const row = rows.get(seq)
    if (row !== undefined && !found.has(seq)) found.set(seq, cosineAt(table, row, query))
  }
  return [...found]
}

/** Rows that are scanned again for each question: that takes less than what was found takes memory. */
const scanned = 256

/** Rows that are taken together: a small mind gets exactly the room that it needs. */
const together = 256

/** Appends rows; those without a direction take part as zeros, whose cosine is 0. */
function extend(entry: Entry, rows: ReturnType<LoadVectors>): void {
  entry.known = new WeakMap()
  let waiting: LoadedVector[] = []
  for (const row of rows) {
    waiting.push(row)
    if (waiting.length < together) continue
    append(entry, waiting)
    waiting = []
  }
  append(entry, waiting)
}

function append(entry: Entry, rows: readonly LoadedVector[]): void {
  const { width, seqs } = entry
  const needed = (seqs.length + rows.length) * width
  if (needed > entry.values.length) {
    // Beyond the first rows by a quarter: twice as much would mostly stay empty.
    const room = seqs.length === 0 ? needed : Math.max(needed, Math.ceil(seqs.length * 1.25) * width)
    const grown = new Float32Array(room)
    grown.set(entry.values)
    entry.values = grown
  }
  for (const { memory_seq, vec } of rows) {
    // A copy: the blob may lie at an odd address, where no view of floats can begin.
    if (vec.byteLength === width * 4)
      entry.values.set(new Float32Array(vec.slice().buffer), seqs.length * width)
    entry.rows.set(memory_seq, seqs.length)
    seqs.push(memory_seq)
  }
}
