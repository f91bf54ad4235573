/** What the places that keep the documentation promise, SQLite and PostgreSQL alike. */
import type { EmbeddingSpace } from '@causeway/embed'
import type { Chunk } from './domain/chunk.ts'
import type { Lists } from './domain/fuse.ts'
import type { Page } from './domain/page.ts'

/** Which pages a question may see; what is undefined does not narrow. */
export interface Scope {
  /** Internal pages too. */
  readonly internal: boolean
  readonly language?: string | undefined
  /** Name of a section, in any case. */
  readonly section?: string | undefined
  readonly source?: string | undefined
}

/** A question in the form that every store can rank by. */
export interface RankQuestion {
  /** Words and phrases, any of which may match. */
  readonly words: readonly string[]
  /** Synonyms of them. */
  readonly others: readonly string[]
  /** Names of code, which must match as they are. */
  readonly identifiers: readonly string[]
  /** Undefined where there are no comparable vectors. */
  readonly vector?: Float32Array | undefined
  readonly scope: Scope
  /** Hits of each list at most. */
  readonly limit: number
}

/** A page without its text. */
export interface DocRow {
  readonly doc_id: number
  readonly source: string
  readonly file_path: string
  readonly title: string
  readonly section: string
  readonly language: string
  /** Number of its pieces. */
  readonly items: number
  readonly is_internal: boolean
}

/** A piece of a page. */
export interface ItemRow extends Chunk {
  readonly item_id: number
  readonly doc_id: number
}

/** A piece as it is embedded. */
export interface EmbeddedItem {
  readonly doc_id: number
  readonly text_hash: string
  readonly title: string
  readonly heading: string
  readonly text: string
}

/** What an index says of itself. */
export interface IndexFacts {
  readonly revision: number
  readonly docs: number
  readonly items: number
  readonly internal_docs: number
  /** Pages by source, in order of name. */
  readonly sources: readonly { readonly source: string; readonly docs: number; readonly items: number }[]
  /** The rules by which pages were cut; another value means that pieces of two builds do not fit together. */
  readonly chunking: string
  /** Undefined where it has no vectors. */
  readonly space?: EmbeddingSpace
  readonly built_ms: number
}

/** One published state of the documentation. It never changes while it is open. */
export interface HelpIndex {
  readonly facts: IndexFacts
  /** Ranked hits, each list best first. */
  rank(question: RankQuestion): Promise<Lists>
  /** Cosine of pieces to a vector, for those that have one. */
  similarities(items: readonly number[], vector: Float32Array): Promise<ReadonlyMap<number, number>>
  items(ids: readonly number[]): Promise<readonly ItemRow[]>
  /** Numbers of the pieces of a page, in order. */
  itemsOf(docId: number): Promise<readonly number[]>
  /** Pages of a scope by section, then path. */
  docs(scope: Scope): Promise<readonly DocRow[]>
  docsById(ids: readonly number[]): Promise<readonly DocRow[]>
  /** The text of a page of the scope. */
  body(docId: number, scope: Scope): Promise<string | undefined>
  /** Bytes of the model that made the vectors, where there is one. */
  spaceModel(): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

/** A page that an index has, as a build compares it with its file. */
export interface KnownPage {
  readonly doc_id: number
  readonly source: string
  readonly file_path: string
  readonly content_hash: string
}

/** A page on its way into an index. */
export interface NewPage extends Page {
  readonly content_hash: string
  /** By position of the piece. */
  readonly text_hashes: readonly string[]
}

/** The vectors of an index: one for each distinct text. */
export interface NewVectors {
  readonly space: EmbeddingSpace
  readonly model?: Uint8Array
  readonly rows: ReadonlyMap<string, Float32Array>
}

/** The difference between an index and the next one. */
export interface IndexChange {
  /** Starts from nothing instead of the index that answers now. */
  readonly fresh: boolean
  readonly removed: readonly number[]
  readonly pages: readonly NewPage[]
  readonly chunking: string
  /** `keep` leaves the vectors of texts that stay; otherwise they are replaced, by none where undefined. */
  readonly vectors: NewVectors | 'keep' | undefined
}

/** How the last build went. */
export interface BuildReport {
  readonly added: number
  readonly updated: number
  readonly unchanged: number
  readonly removed: number
  /** Texts whose vectors were made, and those that had theirs. */
  readonly embedded: number
  readonly reused: number
  readonly failed: readonly { readonly file: string; readonly reason: string }[]
  readonly warnings: readonly string[]
  readonly revision: number
  readonly ms: number
}

/** The documentation, as one state that answers and as the way to the next one. */
export interface HelpStorage {
  /** Number of the state that answers now; 0 before the first. */
  revision(): Promise<number>
  /** The state that answers now; undefined before the first. */
  open(): Promise<HelpIndex | undefined>
  known(): Promise<readonly KnownPage[]>
  /** Every piece of the state that answers now, for making vectors. */
  embeddedItems(): Promise<readonly EmbeddedItem[]>
  /** Puts the next state in the place of this one, at once and whole, and answers its revision. */
  publish(change: IndexChange): Promise<number>
  /** Vectors that were paid for, of one space, by hash of their text. */
  cachedVectors(fingerprint: string, hashes: readonly string[]): Promise<ReadonlyMap<string, Float32Array>>
  cacheVectors(fingerprint: string, rows: ReadonlyMap<string, Float32Array>): Promise<void>
  /** Keeps other builds away until the lock is let go or not renewed for a minute. Throws `HELP_BUILD_RUNNING`. */
  lock(holder: string): Promise<BuildLock>
  lastReport(): Promise<BuildReport | undefined>
  saveReport(report: BuildReport): Promise<void>
  close(): Promise<void>
}

/** The right to build. */
export interface BuildLock {
  /** Throws `HELP_BUILD_RUNNING` where another build has taken over. */
  renew(): Promise<void>
  release(): Promise<void>
}
