import { computeCosineAt, findNearestRows, type NearestRow } from '../domain/vector-scan.ts'

export interface VectorQuery {
  readonly mindSeq: number
  readonly embedderId: string
  readonly width: number
  readonly queries: readonly Float32Array[]
  readonly top: number
  /** Rows whose cosines are always returned. */
  readonly also: readonly number[]
  /** The last row with a vector, up to which the cache reads. */
  readonly last: number
}

export type VectorMatches = readonly (readonly (readonly [seq: number, cosine: number])[])[]

interface LoadedVector {
  readonly memory_seq: number
  /** Float32 values. */
  readonly vec: Uint8Array
}

/** Loads the rows after `after` in ascending order. */
export type LoadVectors = (mindSeq: number, embedderId: string, after: number) => Iterable<LoadedVector>

interface Entry {
  readonly seqs: number[]
  readonly rows: Map<number, number>
  values: Float32Array
  readonly width: number
  /** Nearest rows by query. Cleared when rows are added. */
  nearest: WeakMap<Float32Array, readonly NearestRow[]>
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
    const before = this.#bytes
    for (const key of [...this.#entries.keys()]) if (before - this.#bytes < bytes) this.#evict(key)
    return before - this.#bytes
  }

  #use({ mindSeq, embedderId, width, last }: VectorQuery): Entry {
    const key = `${mindSeq}|${embedderId}`
    const entry = this.#entries.get(key) ?? {
      seqs: [],
      rows: new Map(),
      values: new Float32Array(0),
      width,
      nearest: new WeakMap(),
    }
    this.#evict(key)
    const loaded = entry.seqs.at(-1) ?? 0
    if (last > loaded) extend(entry, this.#load(mindSeq, embedderId, loaded))
    this.#entries.set(key, entry)
    this.#bytes += entry.values.byteLength
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === key) break
      this.#evict(oldest)
    }
    return entry
  }

  #evict(key: string): void {
    this.#bytes -= this.#entries.get(key)?.values.byteLength ?? 0
    this.#entries.delete(key)
  }
}

function findMatches(
  { seqs, rows, values, width, nearest }: Entry,
  query: Float32Array,
  { top, also }: VectorQuery,
): readonly (readonly [number, number])[] {
  const table = { values, width, count: seqs.length }
  const near = nearest.get(query) ?? findNearestRows(table, query, top)
  if (seqs.length > maxScanned) nearest.set(query, near)
  const found = new Map<number, number>()
  for (const { row, cosine } of near) found.set(seqs[row] as number, cosine)
  for (const seq of also) {
    const row = rows.get(seq)
    if (row !== undefined && !found.has(seq)) found.set(seq, computeCosineAt(table, row, query))
  }
  return [...found]
}

function extend(entry: Entry, rows: Iterable<LoadedVector>): void {
  entry.nearest = new WeakMap()
  let batch: LoadedVector[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < batchSize) continue
    append(entry, batch)
    batch = []
  }
  append(entry, batch)
}

/** Appends vectors. An empty vector becomes zeros, with cosine 0. */
function append(entry: Entry, rows: readonly LoadedVector[]): void {
  const { width, seqs } = entry
  const needed = (seqs.length + rows.length) * width
  if (needed > entry.values.length) {
    // Doubling could waste half of the memory.
    const size = seqs.length === 0 ? needed : Math.max(needed, Math.ceil(seqs.length * 1.25) * width)
    const grown = new Float32Array(size)
    grown.set(entry.values)
    entry.values = grown
  }
  for (const { memory_seq, vec } of rows) {
    // Copies the blob, because it may be unaligned.
    if (vec.byteLength === width * 4)
      entry.values.set(new Float32Array(vec.slice().buffer), seqs.length * width)
    entry.rows.set(memory_seq, seqs.length)
    seqs.push(memory_seq)
  }
}
