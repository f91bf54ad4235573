import type {
  DefaultMemories,
  FoundRecallData,
  MemoryRow,
  MindRow,
  RecallData,
  RecallDataQuery,
} from '../store/types.ts'

export type CachedMind = Pick<MindRow, 'seq' | 'memory_rev' | 'daily_count' | 'memory_count'>

interface RecallDataRequest {
  readonly words: readonly string[]
  readonly extra: number
  readonly embedderId: string
  readonly withToday: boolean
}

interface MemorySource {
  readRecallData(mind: Pick<MindRow, 'seq'>, wanted: RecallDataQuery): Promise<FoundRecallData>
  bySeqs(seqs: readonly number[]): Promise<readonly MemoryRow[]>
}

interface Entry {
  readonly rev: number
  readonly postings: Map<string, readonly number[]>
  readonly rows: Map<number, MemoryRow>
  defaults: { readonly key: string; readonly value: DefaultMemories } | undefined
  /** Until long-term memories change, memories of the day are only added, so their number identifies them. */
  today: { readonly count: number; readonly rows: readonly MemoryRow[] } | undefined
  bytes: number
}

const noDefaults: DefaultMemories = { rows: [], lastVector: 0 }

/** Caches memories until `memory_rev` changes. */
export class MemoryCache {
  readonly #source: MemorySource
  readonly #maxBytes: number
  /** By `seq` of the mind, least recently used first. */
  readonly #entries = new Map<number, Entry>()
  #bytes = 0

  constructor(source: MemorySource, maxBytes: number) {
    this.#source = source
    this.#maxBytes = maxBytes
  }

  bytes(): number {
    return this.#bytes
  }

  async readRecallData(mind: CachedMind, request: RecallDataRequest): Promise<RecallData> {
    const { words, extra, embedderId, withToday } = request
    const { daily_count, memory_count } = mind
    const entry = this.#use(mind)
    const key = `${embedderId}|${extra}`
    const hasMemories = memory_count > 0
    const missing = hasMemories ? words.filter((word) => !entry.postings.has(word)) : []
    const needsToday = withToday && daily_count > 0 && entry.today?.count !== daily_count
    const needsDefaults = hasMemories && entry.defaults?.key !== key
    if (missing.length > 0 || needsToday || needsDefaults) {
      const defaults = needsDefaults ? { extra, embedderId } : undefined
      const found = await this.#source.readRecallData(mind, { words: missing, today: needsToday, defaults })
      this.#add(mind.seq, entry, found, key)
    }
    return {
      today: withToday && daily_count > 0 ? (entry.today?.rows ?? []) : [],
      postings: entry.postings,
      defaults: hasMemories ? (entry.defaults?.value ?? noDefaults) : noDefaults,
    }
  }

  /** Returns long-term memories by row. Omits missing rows. */
  async rows(mind: CachedMind, seqs: readonly number[]): Promise<readonly MemoryRow[]> {
    const entry = this.#use(mind)
    const missing = seqs.filter((seq) => !entry.rows.has(seq))
    if (missing.length > 0) {
      const found = await this.#source.bySeqs(missing)
      for (const row of found) entry.rows.set(row.seq, row)
      this.#grow(mind.seq, entry, measureRows(found))
    }
    return seqs.flatMap((seq) => entry.rows.get(seq) ?? [])
  }

  shrink(bytes: number): number {
    const before = this.#bytes
    for (const seq of [...this.#entries.keys()]) if (before - this.#bytes < bytes) this.#evict(seq)
    return before - this.#bytes
  }

  #use({ seq, memory_rev: rev }: CachedMind): Entry {
    const known = this.#entries.get(seq)
    if (known?.rev === rev) {
      this.#entries.delete(seq)
      this.#entries.set(seq, known)
      return known
    }
    this.#evict(seq)
    const entry = {
      rev,
      postings: new Map(),
      rows: new Map(),
      defaults: undefined,
      today: undefined,
      bytes: 0,
    }
    this.#entries.set(seq, entry)
    return entry
  }

  #add(seq: number, entry: Entry, { postings, today, defaults }: FoundRecallData, key: string): void {
    let added = 0
    for (const [word, rows] of postings) {
      entry.postings.set(word, rows)
      added += 100 + 8 * rows.length
    }
    if (today !== undefined) {
      added += measureRows(today) - measureRows(entry.today?.rows ?? [])
      // Memories may have been added since the mind was read.
      entry.today = { count: today.length, rows: today }
    }
    if (defaults !== undefined) {
      added += measureRows(defaults.rows)
      entry.defaults = { key, value: defaults }
      for (const row of defaults.rows) entry.rows.set(row.seq, row)
    }
    this.#grow(seq, entry, added)
  }

  #grow(seq: number, entry: Entry, bytes: number): void {
    if (this.#entries.get(seq) !== entry) return
    entry.bytes += bytes
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === seq) break
      this.#evict(oldest)
    }
  }

  #evict(seq: number): void {
    this.#bytes -= this.#entries.get(seq)?.bytes ?? 0
    this.#entries.delete(seq)
  }
}

const measureRows = (rows: readonly MemoryRow[]): number =>
  rows.reduce((sum, { content }) => sum + 400 + 2 * content.length, 0)
