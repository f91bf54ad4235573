import type { EmbeddingSpace } from '@causeway/embed'
import type { Chunk } from '../domain/chunk.ts'
import type { Lists } from '../domain/fuse.ts'
import type { Page } from '../domain/page.ts'

/**
 * The public pages, or all pages. Separate statistics and vectors keep public results independent of internal pages.
 */
export type Edition = 'public' | 'internal'

/** Ids of internal pages start here. Public pages have the same ids in both editions. */
export const firstInternalId = 1_000_000_000

/** The pages that a query can find. Undefined members do not restrict the query. */
export interface Scope {
  readonly internal: boolean
  readonly language?: string | undefined
  /** Name of a section, case-insensitive. */
  readonly section?: string | undefined
  readonly source?: string | undefined
}

export interface RankQuestion {
  /** Words and phrases. Any of them may match. */
  readonly words: readonly string[]
  readonly otherWords: readonly string[]
  /** Identifiers, which must match exactly. */
  readonly identifiers: readonly string[]
  /** `undefined` if vectors are not comparable. */
  readonly vector?: Float32Array | undefined
  readonly scope: Scope
  readonly limit: number
}

export interface DocRow {
  readonly doc_id: number
  readonly source: string
  readonly file_path: string
  readonly title: string
  readonly section: string
  readonly language: string
  readonly items: number
  readonly is_internal: boolean
}

export interface ItemRow extends Chunk {
  readonly item_id: number
  readonly doc_id: number
}

export interface EmbeddedItem {
  readonly doc_id: number
  readonly text_hash: string
  readonly title: string
  readonly heading: string
  readonly text: string
}

export interface IndexFacts {
  readonly revision: number
  readonly docs: number
  readonly items: number
  readonly internal_docs: number
  readonly sources: readonly { readonly source: string; readonly docs: number; readonly items: number }[]
  /** Identifier of the chunking rules (`formatChunking`). */
  readonly chunking: string
  readonly space?: EmbeddingSpace
  readonly built_ms: number
}

/** A published index. It does not change while it is open. */
export interface HelpIndex {
  readonly facts: IndexFacts
  rank(question: RankQuestion): Promise<Lists>
  /** Cosines of the chunks that have a vector. */
  computeSimilarities(items: readonly number[], vector: Float32Array): Promise<ReadonlyMap<number, number>>
  readItems(ids: readonly number[]): Promise<readonly ItemRow[]>
  listItemIds(docId: number): Promise<readonly number[]>
  listDocs(scope: Scope): Promise<readonly DocRow[]>
  readDocs(ids: readonly number[]): Promise<readonly DocRow[]>
  readBody(docId: number, scope: Scope): Promise<string | undefined>
  readSpaceModel(): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

export interface KnownPage {
  readonly doc_id: number
  readonly source: string
  readonly file_path: string
  readonly content_hash: string
  readonly is_internal: boolean
}

export interface NewPage extends Page {
  /** Id of the page in the public edition. By default, the id of the replaced page, or a new id. */
  readonly doc_id?: number
  readonly content_hash: string
  readonly text_hashes: readonly string[]
}

export interface NewVectors {
  readonly space: EmbeddingSpace
  readonly model?: Uint8Array
  readonly rows: ReadonlyMap<string, Float32Array>
}

export interface IndexChange {
  readonly fresh: boolean
  readonly removed: readonly number[]
  readonly pages: readonly NewPage[]
  readonly chunking: string
  /** `keep` retains the vectors of remaining texts. `undefined` removes all vectors. */
  readonly vectors: NewVectors | 'keep' | undefined
}

export interface BuildReport {
  readonly added: number
  readonly updated: number
  readonly unchanged: number
  readonly removed: number
  readonly embedded: number
  readonly reused: number
  readonly failed: readonly { readonly file: string; readonly reason: string }[]
  readonly warnings: readonly string[]
  readonly revision: number
  readonly ms: number
}

export interface HelpStorage {
  /** Revision of the published index, or 0. */
  readRevision(): Promise<number>
  open(): Promise<HelpIndex | undefined>
  listKnownPages(): Promise<readonly KnownPage[]>
  listEmbeddedItems(): Promise<readonly EmbeddedItem[]>
  /** Publishes the next index atomically. Returns its revision. */
  publish(change: IndexChange): Promise<number>
  readCachedVectors(
    fingerprint: string,
    hashes: readonly string[],
  ): Promise<ReadonlyMap<string, Float32Array>>
  cacheVectors(fingerprint: string, rows: ReadonlyMap<string, Float32Array>): Promise<void>
  /**
   * Excludes other builds until the lock is released, its process (`makeHolder`) exits on this machine, or it is not
   * renewed for a minute. Throws `HELP_BUILD_RUNNING`.
   */
  lock(holder: string): Promise<BuildLock>
  readLastReport(): Promise<BuildReport | undefined>
  saveReport(report: BuildReport): Promise<void>
  close(): Promise<void>
}

export interface BuildLock {
  /** Throws `HELP_BUILD_RUNNING` if another build has the lock. */
  renew(): Promise<void>
  release(): Promise<void>
}
