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
  readonly extraCount: number
  readonly embedderId: string
  readonly includesToday: boolean
}

interface MemorySource {
  readRecallData(mind: Pick<MindRow, 'seq'>, query: RecallDataQuery): Promise<FoundRecallData>
  listBySeqs(seqs: readonly number[]): Promise<readonly MemoryRow[]>
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

/** Caches the memories of each mind until its `memory_rev` changes. */
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
    const { words, extraCount, embedderId, includesToday } = request
    const { daily_count, memory_count } = mind
    const entry = this.#use(mind)
    const key = `${embedderId}|${extraCount}`
    const hasMemories = memory_count > 0
    const missingWords = hasMemories ? words.filter((word) => !entry.postings.has(word)) : []
    const needsToday = includesToday && daily_count > 0 && entry.today?.count !== daily_count
    const needsDefaults = hasMemories && entry.defaults?.key !== key
    if (missingWords.length > 0 || needsToday || needsDefaults) {
      const defaults = needsDefaults ? { extraCount, embedderId } : undefined
      const loadedData = await this.#source.readRecallData(mind, {
        words: missingWords,
        today: needsToday,
        defaults,
      })
      this.#add(mind.seq, entry, loadedData, key)
    }
    return {
      today: includesToday && daily_count > 0 ? (entry.today?.rows ?? []) : [],
      postings: entry.postings,
      defaults: hasMemories ? (entry.defaults?.value ?? noDefaults) : noDefaults,
    }
  }

  /** Returns long-term memories by row. Omits missing rows. */
  async readRows(mind: CachedMind, seqs: readonly number[]): Promise<readonly MemoryRow[]> {
    const entry = this.#use(mind)
    const missingSeqs = seqs.filter((seq) => !entry.rows.has(seq))
    if (missingSeqs.length > 0) {
      const loadedRows = await this.#source.listBySeqs(missingSeqs)
      for (const row of loadedRows) entry.rows.set(row.seq, row)
      this.#grow(mind.seq, entry, measureRows(loadedRows))
    }
    return seqs.flatMap((seq) => entry.rows.get(seq) ?? [])
  }

  shrink(bytes: number): number {
    const initialBytes = this.#bytes
    for (const seq of [...this.#entries.keys()]) if (initialBytes - this.#bytes < bytes) this.#evict(seq)
    return initialBytes - this.#bytes
  }

  #use({ seq, memory_rev: rev }: CachedMind): Entry {
    const cachedEntry = this.#entries.get(seq)
    if (cachedEntry?.rev === rev) {
      this.#entries.delete(seq)
      this.#entries.set(seq, cachedEntry)
      return cachedEntry
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
    let addedBytes = 0
    for (const [word, rows] of postings) {
      entry.postings.set(word, rows)
      addedBytes += 100 + 8 * rows.length
    }
    if (today !== undefined) {
      addedBytes += measureRows(today) - measureRows(entry.today?.rows ?? [])
      // `daily_count` may be outdated: the mind was read earlier.
      entry.today = { count: today.length, rows: today }
    }
    if (defaults !== undefined) {
      addedBytes += measureRows(defaults.rows)
      entry.defaults = { key, value: defaults }
      for (const row of defaults.rows) entry.rows.set(row.seq, row)
    }
    this.#grow(seq, entry, addedBytes)
  }

  #grow(seq: number, entry: Entry, bytes: number): void {
    if (this.#entries.get(seq) !== entry) return
    entry.bytes += bytes
    this.#bytes += bytes
    for (const oldestSeq of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes || oldestSeq === seq) break
      this.#evict(oldestSeq)
    }
  }

  #evict(seq: number): void {
    this.#bytes -= this.#entries.get(seq)?.bytes ?? 0
    this.#entries.delete(seq)
  }
}

const measureRows = (rows: readonly MemoryRow[]): number =>
  rows.reduce((sum, { content }) => sum + 400 + 2 * content.length, 0)
