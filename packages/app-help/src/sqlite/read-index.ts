/** One index file, open for questions. */
import { type EmbeddingSpace, nearest, unit, type VectorTable, vectorOf, vectorTable } from '@causeway/embed'
import { CausewayError } from '@causeway/protocol'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import type { Hit } from '../domain/fuse.ts'
import { ftsExpression } from '../domain/query.ts'
import type {
  DocRow,
  EmbeddedItem,
  HelpIndex,
  IndexFacts,
  ItemRow,
  KnownPage,
  RankQuestion,
  Scope,
} from '../storage.ts'
import { indexFormat } from './index-schema.ts'

/** An open index file, with what a build needs of it. */
export interface IndexFile extends HelpIndex {
  known(): readonly KnownPage[]
  embeddedItems(): readonly EmbeddedItem[]
}

const inScope =
  'd.is_internal <= @internal AND (@language IS NULL OR d.language = @language) AND (@section IS NULL OR d.section_key = @section) AND (@source IS NULL OR d.source = @source)'

const docColumns =
  'd.id AS doc_id, d.source, d.file_path, d.title, d.section, d.language, d.items, d.is_internal'

/** Opens an index file, which stays as it is. Throws `DATA_DAMAGED` for anything else. */
export function readIndex(file: string): IndexFile {
  const db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
  try {
    return reader(db, readFacts(db, file))
  } catch (error) {
    db.close()
    throw error
  }
}

function reader(db: Database, facts: IndexFacts): IndexFile {
  const ranked = {
    stem: rankedItems(db, 'help_fts_stem'),
    exact: rankedItems(db, 'help_fts_exact'),
    doc: db.prepare<[object], Hit>(
      `SELECT d.id AS doc_id, NULL AS item_id FROM help_fts_doc JOIN help_docs d ON d.id = help_fts_doc.rowid
       WHERE help_fts_doc MATCH @match AND ${inScope} ORDER BY bm25(help_fts_doc, 3, 3, 1), d.id LIMIT @limit`,
    ),
  }
  const ranksLinks =
    db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'help_fts_link'").get() !== undefined
  const linked = ranksLinks ? rankedLinks(db) : { all: () => [] }
  const visible = db
    .prepare<[object], number>(
      `SELECT i.id FROM help_items i JOIN help_docs d ON d.id = i.doc_id WHERE ${inScope}`,
    )
    .pluck()
  const visiblePages = db.prepare<[object], number>(`SELECT d.id FROM help_docs d WHERE ${inScope}`).pluck()
  const owner = new Map<number, number>()
  const scopes = new Map<string, ReadonlySet<number>>()
  let table: VectorTable | undefined
  let rowOf: ReadonlyMap<number, number> | undefined
  let pages: VectorTable | undefined

  /** The vectors of every piece; read once, since reading them again for each question costs 20 ms for 1000 pieces. */
  const vectors = (): VectorTable => {
    if (table !== undefined) return table
    const rows = db
      .prepare<[], { item_id: number; doc_id: number; embedding: Buffer }>(
        'SELECT i.id AS item_id, i.doc_id, v.embedding FROM help_items i JOIN help_vectors v ON v.text_hash = i.text_hash ORDER BY i.id',
      )
      .all()
    for (const { item_id, doc_id } of rows) owner.set(item_id, doc_id)
    table = vectorTable(
      facts.space?.dimensions ?? 0,
      rows.map(({ item_id, embedding }) => [item_id, vectorOf(embedding)] as const),
    )
    rowOf = new Map(table.ids.map((id, row) => [id, row]))
    return table
  }
  const pageVectors = (): VectorTable => {
    pages ??= meanVectors(vectors(), (item) => owner.get(item) ?? 0)
    return pages
  }
  const scopeSet = (scope: Scope): ReadonlySet<number> => {
    const key = JSON.stringify(scope)
    const known = scopes.get(key) ?? new Set(visible.all(parameters(scope)))
    if (scopes.size >= keptScopes) scopes.clear()
    scopes.set(key, known)
    return known
  }
  const nearestHits = ({ vector, scope, limit }: RankQuestion): Hit[] => {
    if (vector === undefined) return []
    const inside = scopeSet(scope)
    // At a right angle and beyond, a text has nothing to do with the question.
    const found = nearest(vectors(), vector, limit, (id) => inside.has(id)).filter(
      (one) => one.similarity > 0,
    )
    return found.map(({ id, similarity }) => ({
      item_id: id,
      doc_id: owner.get(id) ?? 0,
      similarity,
    }))
  }

  const nearestPages = ({ vector, scope, limit }: RankQuestion): Hit[] => {
    if (vector === undefined) return []
    const inside = new Set(visiblePages.all(parameters(scope)))
    return nearest(pageVectors(), vector, limit, (id) => inside.has(id))
      .filter((one) => one.similarity > 0)
      .map(({ id }) => ({ doc_id: id, item_id: null }))
  }

  db.exec('CREATE VIRTUAL TABLE temp.word_count USING fts5vocab(main, help_fts_exact, row)')
  const countOf = db.prepare<[string], number>('SELECT doc FROM temp.word_count WHERE term = ?').pluck()
  /** Without the words that every fourth piece has, if others are left: they order nothing and cost nearly all the time. */
  const telling = (terms: readonly string[]): readonly string[] => {
    if (facts.items < manyItems) return terms
    const rare = terms.filter((term) => (countOf.get(term) ?? 0) * 4 <= facts.items)
    return rare.some((term) => term.includes(' ') || (countOf.get(term) ?? 0) > 0) ? rare : terms
  }

  return {
    facts,
    async rank(question) {
      const { identifiers, scope, limit } = question
      const [words, others] = [telling(question.words), telling(question.others)]
      const ask = (terms: readonly string[], statement: { all(parameters: object): Hit[] }): Hit[] =>
        terms.length === 0 ? [] : statement.all({ ...parameters(scope), match: ftsExpression(terms), limit })
      return {
        stem: ask(words, ranked.stem),
        exact: ask(words, ranked.exact),
        synonym: others.length === 0 ? [] : ask([...words, ...others], ranked.stem),
        doc: ask(words, ranked.doc),
        link: ask([...words, ...others], linked),
        identifier: ask(identifiers, ranked.exact),
        vector: nearestHits(question),
        page: nearestPages(question),
      }
    },
    async similarities(items, vector) {
      const { data, dimensions } = vectors()
      const found = new Map<number, number>()
      for (const id of items) {
        const row = rowOf?.get(id)
        if (row === undefined) continue
        const start = row * dimensions
        let sum = 0
        for (let k = 0; k < dimensions; k++) sum += (data[start + k] ?? 0) * (vector[k] ?? 0)
        found.set(id, sum)
      }
      return found
    },
    items: async (ids) =>
      db
        .prepare<[string], StoredItem>(
          'SELECT id AS item_id, doc_id, position, heading, heading_level, anchor, start_line, end_line, from_column, to_column, fence, text FROM help_items WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id',
        )
        .all(JSON.stringify(ids))
        .map(itemOf),
    itemsOf: async (docId) =>
      db
        .prepare<[number], number>('SELECT id FROM help_items WHERE doc_id = ? ORDER BY position')
        .pluck()
        .all(docId),
    docs: async (scope) =>
      db
        .prepare<[object], StoredDoc>(
          `SELECT ${docColumns} FROM help_docs d WHERE ${inScope} ORDER BY d.section, d.source, d.file_path`,
        )
        .all(parameters(scope))
        .map(docOf),
    docsById: async (ids) =>
      db
        .prepare<[string], StoredDoc>(
          `SELECT ${docColumns} FROM help_docs d WHERE d.id IN (SELECT value FROM json_each(?))`,
        )
        .all(JSON.stringify(ids))
        .map(docOf),
    body: async (docId, scope) =>
      db
        .prepare<[object], string>(`SELECT d.body FROM help_docs d WHERE d.id = @docId AND ${inScope}`)
        .pluck()
        .get({ ...parameters(scope), docId }),
    spaceModel: async () =>
      db.prepare<[], Buffer | null>('SELECT params FROM help_spaces').pluck().get() ?? undefined,
    known: () =>
      db.prepare<[], KnownPage>('SELECT id AS doc_id, source, file_path, content_hash FROM help_docs').all(),
    embeddedItems: () =>
      db
        .prepare<[], EmbeddedItem>(
          'SELECT i.doc_id, i.text_hash, d.title, i.heading, i.text FROM help_items i JOIN help_docs d ON d.id = i.doc_id ORDER BY i.id',
        )
        .all(),
    async close() {
      db.close()
    },
  }
}

/** Pieces from which on frequent words are left out of questions. */
const manyItems = 5000

/** Scopes whose pieces are remembered. */
const keptScopes = 32

const rankedItems = (db: Database, fts: string) =>
  db.prepare<[object], Hit>(
    `SELECT i.id AS item_id, i.doc_id FROM ${fts} JOIN help_items i ON i.id = ${fts}.rowid JOIN help_docs d ON d.id = i.doc_id
     WHERE ${fts} MATCH @match AND ${inScope} ORDER BY bm25(${fts}, 5, 3, 1), i.id LIMIT @limit`,
  )

/** Pages by what is said of them where others of their source, which the caller may see too, link to them. */
const rankedLinks = (db: Database) =>
  db.prepare<[object], Hit>(
    `SELECT d.id AS doc_id, NULL AS item_id FROM help_fts_link JOIN help_links l ON l.id = help_fts_link.rowid
     JOIN help_docs f ON f.id = l.doc_id JOIN help_docs d ON d.source = f.source AND d.file_path = l.file_path
     WHERE help_fts_link MATCH @match AND f.is_internal <= @internal AND ${inScope}
     ORDER BY bm25(help_fts_link), d.id, l.id LIMIT @limit`,
  )

/** The mean of the vectors of each page's pieces, at length 1: what the page is about as a whole. */
function meanVectors({ dimensions, ids, data }: VectorTable, pageOf: (item: number) => number): VectorTable {
  const sums = new Map<number, Float32Array>()
  for (const [row, id] of ids.entries()) {
    const sum = sums.get(pageOf(id)) ?? new Float32Array(dimensions)
    for (let k = 0; k < dimensions; k++) sum[k] = (sum[k] ?? 0) + (data[row * dimensions + k] ?? 0)
    sums.set(pageOf(id), sum)
  }
  const rows = [...sums].flatMap(([id, sum]) => {
    const mean = unit(sum)
    return mean === undefined ? [] : [[id, mean] as const]
  })
  return vectorTable(dimensions, rows)
}

const parameters = ({ internal, language, section, source }: Scope) => ({
  internal: internal ? 1 : 0,
  language: language?.toLowerCase() ?? null,
  section: section?.toLowerCase() ?? null,
  source: source ?? null,
})

interface StoredDoc extends Omit<DocRow, 'is_internal'> {
  readonly is_internal: number
}

const docOf = (row: StoredDoc): DocRow => ({ ...row, is_internal: row.is_internal === 1 })

interface StoredItem extends Omit<ItemRow, 'columns'> {
  readonly from_column: number | null
  readonly to_column: number | null
}

const itemOf = ({ from_column, to_column, ...row }: StoredItem): ItemRow => ({
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
    throw new CausewayError('DATA_DAMAGED', `the index is of another format: ${file}`, { data: { file } })
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
