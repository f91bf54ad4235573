import { computeCosineAt, findNearestRows, type NearestRow } from '../domain/vector-scan.ts'

export interface VectorQuery {
  readonly mindSeq: number
  readonly embedderId: string
  readonly width: number
  readonly queries: readonly Float32Array[]
  readonly maxMatches: number
  /** Rows whose cosines are always returned. */
  readonly alwaysIncludedSeqs: readonly number[]
  /** The last row with a vector, up to which the cache reads. */
  readonly lastSeq: number
}

export type VectorMatches = readonly (readonly (readonly [seq: number, cosine: number])[])[]

interface LoadedVector {
  readonly memory_seq: number
  /** Float32 values. */
  readonly vec: Uint8Array
}

/** Loads the vectors of rows after `after` in ascending order. */
export type LoadVectors = (mindSeq: number, embedderId: string, after: number) => Iterable<LoadedVector>

interface Entry {
  readonly seqs: number[]
  readonly rows: Map<number, number>
  values: Float32Array
  readonly width: number
  /** Nearest rows by query. Cleared when rows are added. */
  nearestByQuery: WeakMap<Float32Array, readonly NearestRow[]>
}

/** Maximum number of rows for which a scan is cheaper than caching its result. */
const maxScanned = 256

const batchSize = 256

export class VectorCache {
  readonly #load: LoadVectors
  readonly #maxBytes: number
  /** By mind and vector space, least recently used first. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor(load: LoadVectors, maxBytes: number) {
    this.#load = load
    this.#maxBytes = maxBytes
  }

  bytes(): number {
    return this.#bytes
  }

  search(request: VectorQuery): VectorMatches {
    const entry = this.#use(request)
    return request.queries.map((query) => findMatches(entry, query, request))
  }

  drop(mindSeq: number): void {
    for (const key of [...this.#entries.keys()]) if (key.startsWith(`${mindSeq}|`)) this.#evict(key)
  }

  shrink(bytes: number): number {
    const initialBytes = this.#bytes
    for (const key of [...this.#entries.keys()]) if (initialBytes - this.#bytes < bytes) this.#evict(key)
    return initialBytes - this.#bytes
  }

  #use({ mindSeq, embedderId, width, lastSeq }: VectorQuery): Entry {
    const key = `${mindSeq}|${embedderId}`
    const entry = this.#entries.get(key) ?? {
      seqs: [],
      rows: new Map(),
      values: new Float32Array(0),
      width,
      nearestByQuery: new WeakMap(),
    }
    this.#evict(key)
    const lastLoadedSeq = entry.seqs.at(-1) ?? 0
    if (lastSeq > lastLoadedSeq) appendRows(entry, this.#load(mindSeq, embedderId, lastLoadedSeq))
    this.#entries.set(key, entry)
    this.#bytes += entry.values.byteLength
    for (const oldestKey of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes || oldestKey === key) break
      this.#evict(oldestKey)
    }
    return entry
  }

  #evict(key: string): void {
    this.#bytes -= this.#entries.get(key)?.values.byteLength ?? 0
    this.#entries.delete(key)
  }
}

function findMatches(
  { seqs, rows, values, width, nearestByQuery }: Entry,
  query: Float32Array,
  { maxMatches, alwaysIncludedSeqs }: VectorQuery,
): readonly (readonly [number, number])[] {
  const table = { values, width, count: seqs.length }
  const nearestRows = nearestByQuery.get(query) ?? findNearestRows(table, query, maxMatches)
  if (seqs.length > maxScanned) nearestByQuery.set(query, nearestRows)
  const cosines = new Map<number, number>()
  for (const { row, cosine } of nearestRows) cosines.set(seqs[row] as number, cosine)
  for (const seq of alwaysIncludedSeqs) {
    const row = rows.get(seq)
    if (row !== undefined && !cosines.has(seq)) cosines.set(seq, computeCosineAt(table, row, query))
  }
  return [...cosines]
}

function appendRows(entry: Entry, rows: Iterable<LoadedVector>): void {
  entry.nearestByQuery = new WeakMap()
  let batch: LoadedVector[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < batchSize) continue
    appendBatch(entry, batch)
    batch = []
  }
  appendBatch(entry, batch)
}

/** Appends vectors. An empty vector becomes zeros, with cosine 0. */
function appendBatch(entry: Entry, rows: readonly LoadedVector[]): void {
  const { width, seqs } = entry
  const requiredLength = (seqs.length + rows.length) * width
  if (requiredLength > entry.values.length) {
    // Grows by a quarter, because doubling could waste half of the memory.
    const size =
      seqs.length === 0 ? requiredLength : Math.max(requiredLength, Math.ceil(seqs.length * 1.25) * width)
    const newValues = new Float32Array(size)
    newValues.set(entry.values)
    entry.values = newValues
  }
  for (const { memory_seq, vec } of rows) {
    // Copies the blob, because it may be unaligned.
    if (vec.byteLength === width * 4)
      entry.values.set(new Float32Array(vec.slice().buffer), seqs.length * width)
    entry.rows.set(memory_seq, seqs.length)
    seqs.push(memory_seq)
  }
}
