import type { EmbeddingSpace } from '@causeway/embed'
import { StoreError } from '@causeway/store'
import BetterSqlite3, { type Database, type Statement } from 'better-sqlite3'
import type { Hit, Lists } from '../../domain/fuse.ts'
import { formatFtsExpression, minItemsForOmission, selectRareTerms } from '../../domain/query.ts'
import type {
  DocRow,
  EmbeddedItem,
  HelpIndex,
  IndexFacts,
  ItemRow,
  KnownPage,
  RankQuestion,
  Scope,
} from '../types.ts'
import { type StoredVector, VectorScan } from '../vector-scan.ts'
import { indexFormat } from './index-schema.ts'

const inScope =
  'd.is_internal <= @internal AND (@language IS NULL OR d.language = @language) AND (@section IS NULL OR d.section_key = @section) AND (@source IS NULL OR d.source = @source)'

const docColumns =
  'd.id AS doc_id, d.source, d.file_path, d.title, d.section, d.language, d.items, d.is_internal'

const maxScopes = 32

/** Opens an index file for reading. Throws `DATA_DAMAGED` if it is not an index. */
export function readIndex(file: string): IndexFile {
  const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
  try {
    return new IndexFile(db, readFacts(db, file))
  } catch (error) {
    db.close()
    throw error
  }
}

export class IndexFile implements HelpIndex {
  readonly facts: IndexFacts
  readonly #db: Database
  readonly #ranking: ReturnType<typeof prepareRanking>
  readonly #frequency: Statement<[string], number>
  readonly #scopes = new Map<string, ReadonlySet<number>>()
  #vectors: VectorScan | undefined

  constructor(db: Database, facts: IndexFacts) {
    this.facts = facts
    this.#db = db
    this.#ranking = prepareRanking(db)
    db.exec('CREATE VIRTUAL TABLE temp.word_count USING fts5vocab(main, help_fts_exact, row)')
    this.#frequency = db.prepare<[string], number>('SELECT doc FROM temp.word_count WHERE term = ?').pluck()
  }

  async rank(question: RankQuestion): Promise<Lists> {
    const { identifiers, scope, limit } = question
    const [words, others] = [this.#omitFrequent(question.words), this.#omitFrequent(question.otherWords)]
    const find = (terms: readonly string[], statement: Statement<[object], Hit> | undefined): Hit[] =>
      terms.length === 0
        ? []
        : (statement?.all({ ...toParameters(scope), match: formatFtsExpression(terms), limit }) ?? [])
    const { stem, exact, doc, link } = this.#ranking
    return {
      stem: find(words, stem),
      exact: find(words, exact),
      synonym: others.length === 0 ? [] : find([...words, ...others], stem),
      doc: find(words, doc),
      link: find([...words, ...others], link),
      identifier: find(identifiers, exact),
      ...this.#findNearest(question),
    }
  }

  async computeSimilarities(
    items: readonly number[],
    vector: Float32Array,
  ): Promise<ReadonlyMap<number, number>> {
    return this.#readVectors().computeSimilarities(items, vector)
  }

  async readItems(ids: readonly number[]): Promise<readonly ItemRow[]> {
    return this.#db
      .prepare<[string], StoredItem>(
        'SELECT id AS item_id, doc_id, position, heading, heading_level, anchor, start_line, end_line, from_column, to_column, fence, text FROM help_items WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id',
      )
      .all(JSON.stringify(ids))
      .map(toItem)
  }

  async listItemIds(docId: number): Promise<readonly number[]> {
    const sql = 'SELECT id FROM help_items WHERE doc_id = ? ORDER BY position'
    return this.#db.prepare<[number], number>(sql).pluck().all(docId)
  }

  async listDocs(scope: Scope): Promise<readonly DocRow[]> {
    const sql = `SELECT ${docColumns} FROM help_docs d WHERE ${inScope} ORDER BY d.section, d.source, d.file_path`
    return this.#db.prepare<[object], StoredDoc>(sql).all(toParameters(scope)).map(toDoc)
  }

  async readDocs(ids: readonly number[]): Promise<readonly DocRow[]> {
    const sql = `SELECT ${docColumns} FROM help_docs d WHERE d.id IN (SELECT value FROM json_each(?))`
    return this.#db.prepare<[string], StoredDoc>(sql).all(JSON.stringify(ids)).map(toDoc)
  }

  async readBody(docId: number, scope: Scope): Promise<string | undefined> {
    const sql = `SELECT d.body FROM help_docs d WHERE d.id = @docId AND ${inScope}`
    const parameters = { ...toParameters(scope), docId }
    return this.#db.prepare<[object], string>(sql).pluck().get(parameters)
  }

  async readSpaceModel(): Promise<Uint8Array | undefined> {
    const sql = 'SELECT params FROM help_spaces'
    return this.#db.prepare<[], Buffer | null>(sql).pluck().get() ?? undefined
  }

  listKnownPages(): readonly KnownPage[] {
    const sql = 'SELECT id AS doc_id, source, file_path, content_hash, is_internal FROM help_docs'
    return this.#db
      .prepare<[], Omit<KnownPage, 'is_internal'> & { readonly is_internal: number }>(sql)
      .all()
      .map((row) => ({ ...row, is_internal: row.is_internal === 1 }))
  }

  listEmbeddedItems(): readonly EmbeddedItem[] {
    const sql =
      'SELECT i.doc_id, i.text_hash, d.title, i.heading, i.text FROM help_items i JOIN help_docs d ON d.id = i.doc_id ORDER BY i.id'
    return this.#db.prepare<[], EmbeddedItem>(sql).all()
  }

  async close(): Promise<void> {
    this.#db.close()
  }

  #omitFrequent(terms: readonly string[]): readonly string[] {
    const { items } = this.facts
    if (items < minItemsForOmission) return terms
    return selectRareTerms(terms, items, (term) => this.#frequency.get(term) ?? 0)
  }

  #readVectors(): VectorScan {
    this.#vectors ??= new VectorScan(
      this.facts.space?.dimensions ?? 0,
      this.#db
        .prepare<[], StoredVector>(
          'SELECT i.id AS item_id, i.doc_id, v.embedding FROM help_items i JOIN help_vectors v ON v.text_hash = i.text_hash ORDER BY i.id',
        )
        .all(),
    )
    return this.#vectors
  }

  #findNearest({ vector, scope, limit }: RankQuestion): Lists {
    if (vector === undefined) return {}
    const visible = this.#readScope(scope)
    const vectors = this.#readVectors()
    return {
      vector: vectors.findNearestItems(vector, limit, visible),
      page: vectors.findNearestPages(vector, limit, visible),
    }
  }

  #readScope(scope: Scope): ReadonlySet<number> {
    const key = JSON.stringify(scope)
    const cachedScope = this.#scopes.get(key)
    if (cachedScope !== undefined) return cachedScope
    const sql = `SELECT d.id FROM help_docs d WHERE ${inScope}`
    const ids = new Set(this.#db.prepare<[object], number>(sql).pluck().all(toParameters(scope)))
    if (this.#scopes.size >= maxScopes) this.#scopes.clear()
    this.#scopes.set(key, ids)
    return ids
  }
}

function prepareRanking(db: Database) {
  const rankItems = (fts: string) =>
    db.prepare<[object], Hit>(
      `SELECT i.id AS item_id, i.doc_id FROM ${fts} JOIN help_items i ON i.id = ${fts}.rowid JOIN help_docs d ON d.id = i.doc_id
       WHERE ${fts} MATCH @match AND ${inScope} ORDER BY bm25(${fts}, 5, 3, 1), i.id LIMIT @limit`,
    )
  const hasLinks = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'help_fts_link'").get() !== undefined
  return {
    stem: rankItems('help_fts_stem'),
    exact: rankItems('help_fts_exact'),
    doc: db.prepare<[object], Hit>(
      `SELECT d.id AS doc_id, NULL AS item_id FROM help_fts_doc JOIN help_docs d ON d.id = help_fts_doc.rowid
       WHERE help_fts_doc MATCH @match AND ${inScope} ORDER BY bm25(help_fts_doc, 3, 3, 1), d.id LIMIT @limit`,
    ),
    link: hasLinks
      ? db.prepare<[object], Hit>(
          `SELECT d.id AS doc_id, NULL AS item_id FROM help_fts_link JOIN help_links l ON l.id = help_fts_link.rowid
           JOIN help_docs f ON f.id = l.doc_id JOIN help_docs d ON d.source = f.source AND d.file_path = l.file_path
           WHERE help_fts_link MATCH @match AND f.is_internal <= @internal AND ${inScope}
           ORDER BY bm25(help_fts_link), d.id, l.id LIMIT @limit`,
        )
      : undefined,
  }
}

const toParameters = ({ internal, language, section, source }: Scope) => ({
  internal: internal ? 1 : 0,
  language: language?.toLowerCase() ?? null,
  section: section?.toLowerCase() ?? null,
  source: source ?? null,
})

interface StoredDoc extends Omit<DocRow, 'is_internal'> {
  readonly is_internal: number
}

const toDoc = (row: StoredDoc): DocRow => ({ ...row, is_internal: row.is_internal === 1 })

interface StoredItem extends Omit<ItemRow, 'columns'> {
  readonly from_column: number | null
  readonly to_column: number | null
}

const toItem = ({ from_column, to_column, ...row }: StoredItem): ItemRow => ({
  ...row,
  columns: from_column === null || to_column === null ? null : [from_column, to_column],
})

function readFacts(db: Database, file: string): IndexFacts {
  const meta = new Map(
    db
      .prepare<[], { key: string; value: string }>('SELECT key, value FROM help_meta')
      .all()
      .map(({ key, value }) => [key, value]),
  )
  if (meta.get('format') !== String(indexFormat))
    throw new StoreError('DATA_DAMAGED', `the index is of another format: ${file}`, { data: { file } })
  const sources = db
    .prepare<[], { source: string; docs: number; items: number }>(
      'SELECT source, count(*) AS docs, sum(items) AS items FROM help_docs GROUP BY source ORDER BY source',
    )
    .all()
  const space = db
    .prepare<[], EmbeddingSpace>('SELECT provider, model, revision, dimensions, fingerprint FROM help_spaces')
    .get()
  return {
    revision: Number(meta.get('revision')),
    docs: sources.reduce((sum, { docs }) => sum + docs, 0),
    items: sources.reduce((sum, { items }) => sum + items, 0),
    internal_docs:
      db.prepare<[], number>('SELECT count(*) FROM help_docs WHERE is_internal = 1').pluck().get() ?? 0,
    sources,
    chunking: meta.get('chunking') ?? '',
    ...(space === undefined ? {} : { space }),
    built_ms: Number(meta.get('built_ms')),
  }
}
