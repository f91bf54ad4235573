/**
 * What was read of minds for earlier questions, kept in memory: a character sees the same things and has the same needs from
 * decision to decision, and asks the same words. Kept under `memory_rev`, so that nothing outlives a change.
 */
import type { MindsFile } from '../store/minds-file.ts'
import type { Material, MemoryRow, MindRow, StandingMaterial } from '../store/types.ts'

/** The mind as far as its memories can be kept. */
export type ShelfMind = Pick<MindRow, 'seq' | 'memory_rev' | 'daily_count' | 'memory_count'>

/** Which material is wanted. */
export interface ShelfQuestion {
  /** Words of all questions, each once. */
  readonly words: readonly string[]
  /** Newest and most important memories to come with it. */
  readonly beside: number
  readonly embedderId: string
  readonly withToday: boolean
}

/** Memories of minds, read once. */
export interface Shelf {
  material(mind: ShelfMind, question: ShelfQuestion): Promise<Material>
  /** Lasting memories by their rows. */
  rows(mind: ShelfMind, seqs: readonly number[]): Promise<readonly MemoryRow[]>
  /** About what is kept of all minds. */
  readonly bytes: number
  /** Forgets minds until so many bytes are given back; gives the bytes. */
  shrink(bytes: number): number
}

/** What is kept of one mind. */
interface Kept {
  readonly rev: number
  readonly postings: Map<string, readonly number[]>
  readonly rows: Map<number, MemoryRow>
  /** Space of vectors and number of memories -> what stands beside each question. */
  standing: { readonly key: string; readonly value: StandingMaterial } | undefined
  /** Between two changes of what lasts a day only grows: its length tells its content. */
  today: { readonly count: number; readonly rows: readonly MemoryRow[] } | undefined
  bytes: number
}

const nothing: StandingMaterial = { rows: [], lastVector: 0 }

/** Makes a shelf for so many bytes; the mind that was asked least lately goes first. */
export function memoryShelf(file: Pick<MindsFile, 'material' | 'bySeqs'>, mostBytes: number): Shelf {
  const minds = new Map<number, Kept>()
  let bytes = 0
  const keptOf = ({ seq, memory_rev: rev }: ShelfMind): Kept => {
    const known = minds.get(seq)
    if (known !== undefined) minds.delete(seq)
    const kept = known?.rev === rev ? known : { ...empty(), rev }
    if (known !== undefined && known !== kept) bytes -= known.bytes
    minds.set(seq, kept)
    return kept
  }
  /** Counts what was added; the first minds of the map are the ones asked least lately. */
  const grow = (seq: number, kept: Kept, by: number): void => {
    if (minds.get(seq) !== kept) return
    kept.bytes += by
    bytes += by
    for (const oldest of minds.keys()) {
      if (bytes <= mostBytes || oldest === seq) break
      forget(oldest)
    }
  }
  const forget = (seq: number): void => {
    bytes -= minds.get(seq)?.bytes ?? 0
    minds.delete(seq)
  }
  return {
    async material(mind, { words, beside, embedderId, withToday }) {
      const { seq, daily_count, memory_count } = mind
      const kept = keptOf(mind)
      const key = `${embedderId}|${beside}`
      const hasLasting = memory_count > 0
      const missing = hasLasting ? words.filter((word) => !kept.postings.has(word)) : []
      const wantsToday = withToday && daily_count > 0 && kept.today?.count !== daily_count
      const wantsStanding = hasLasting && kept.standing?.key !== key
      if (missing.length > 0 || wantsToday || wantsStanding) {
        const found = await file.material(mind, {
          words: missing,
          today: wantsToday,
          standing: wantsStanding ? { beside, embedderId } : undefined,
        })
        let added = 0
        for (const [word, rows] of found.postings) {
          kept.postings.set(word, rows)
          added += bytesOfPostings(rows)
        }
        if (found.today !== undefined) {
          added += bytesOfRows(found.today) - bytesOfRows(kept.today?.rows ?? [])
          // A day that has grown since the mind was read is the day that is there now.
          kept.today = { count: found.today.length, rows: found.today }
        }
        if (found.standing !== undefined) {
          added += bytesOfRows(found.standing.rows)
          kept.standing = { key, value: found.standing }
          for (const row of found.standing.rows) kept.rows.set(row.seq, row)
        }
        grow(seq, kept, added)
      }
      return {
        today: withToday && daily_count > 0 ? (kept.today?.rows ?? []) : [],
        postings: kept.postings,
        standing: hasLasting ? (kept.standing?.value ?? nothing) : nothing,
      }
    },
    async rows(mind, seqs) {
      const kept = keptOf(mind)
      const missing = seqs.filter((seq) => !kept.rows.has(seq))
      if (missing.length > 0) {
        const found = await file.bySeqs(missing)
        for (const row of found) kept.rows.set(row.seq, row)
        grow(mind.seq, kept, bytesOfRows(found))
      }
      return seqs.flatMap((seq) => kept.rows.get(seq) ?? [])
    },
    get bytes() {
      return bytes
    },
    shrink(wanted) {
      const before = bytes
      for (const oldest of [...minds.keys()]) if (before - bytes < wanted) forget(oldest)
      return before - bytes
    },
  }
}

/** About what rows take: their texts, and objects around them. */
const bytesOfRows = (rows: readonly MemoryRow[]): number =>
  rows.reduce((sum, { content }) => sum + 400 + 2 * content.length, 0)

/** About what the rows of one word take. */
const bytesOfPostings = (rows: readonly number[]): number => 100 + 8 * rows.length

const empty = (): Omit<Kept, 'rev'> => ({
  postings: new Map(),
  rows: new Map(),
  standing: undefined,
  today: undefined,
  bytes: 0,
})
