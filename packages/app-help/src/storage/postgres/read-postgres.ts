import type { EmbeddingSpace } from '@causeway/embed'
import type { Hit } from '../../domain/fuse.ts'
import type { DocRow, HelpIndex, IndexFacts, ItemRow, Scope } from '../types.ts'
import { inScope, toParameters } from './scope.ts'
import type { PostgresVectors } from './search-vectors.ts'
import type { PostgresDatabase, Sql } from './sql.ts'

const docColumns =
  'd.id::integer AS doc_id, d.source, d.file_path, d.title, d.section, d.language, d.items, d.is_internal'

const itemColumns =
  'id::integer AS item_id, doc_id::integer AS doc_id, position, heading, heading_level, anchor, start_line, end_line, from_column, to_column, fence, text'

/** Opens the published index. Each method is one statement, and so sees one state. */
export function readPostgres(db: PostgresDatabase, facts: IndexFacts, vectors: PostgresVectors): HelpIndex {
  return {
    facts,
    async rank({ words, others, identifiers, vector, scope, limit }) {
      const items = (column: 'stem' | 'exact', terms: readonly string[]) =>
        rankedItems(db, { column, terms, scope, limit })
      const [stem, exact, synonym, doc, link, identifier, near] = await Promise.all([
        items('stem', words),
        items('exact', words),
        others.length === 0 ? [] : items('stem', [...words, ...others]),
        rankedDocs(db, { terms: words, scope, limit }),
        rankedLinks(db, { terms: [...words, ...others], scope, limit }),
        items('exact', identifiers),
        vector === undefined ? {} : vectors.nearest({ vector, scope, limit }),
      ])
      return { stem, exact, synonym, doc, link, identifier, ...near }
    },
    similarities: (ids, vector) => vectors.similarities(ids, vector),
    async items(ids) {
      const rows = await db.query<StoredItem>(
        `SELECT ${itemColumns} FROM help_items WHERE id = ANY($1::bigint[]) ORDER BY id`,
        [ids],
      )
      return rows.map(toItem)
    },
    async itemIds(docId) {
      const rows = await db.query<{ id: number }>(
        'SELECT id::integer AS id FROM help_items WHERE doc_id = $1 ORDER BY position',
        [docId],
      )
      return rows.map(({ id }) => id)
    },
    docs: (scope) =>
      db.query<DocRow>(
        `SELECT ${docColumns} FROM help_docs d WHERE ${inScope} ORDER BY d.section COLLATE "C", d.source COLLATE "C", d.file_path COLLATE "C"`,
        toParameters(scope),
      ),
    docsById: (ids) =>
      db.query<DocRow>(`SELECT ${docColumns} FROM help_docs d WHERE d.id = ANY($1::bigint[])`, [ids]),
    async body(docId, scope) {
      const [row] = await db.query<{ body: string }>(
        `SELECT d.body FROM help_docs d WHERE ${inScope} AND d.id = $5`,
        [...toParameters(scope), docId],
      )
      return row?.body
    },
    async spaceModel() {
      const [row] = await db.query<{ params: Uint8Array | null }>('SELECT params FROM help_spaces')
      return row?.params ?? undefined
    },
    close: async () => {},
  }
}

/** Reads the facts of the published index. */
export async function readFacts(sql: Sql): Promise<IndexFacts | undefined> {
  const state = new Map(
    (await sql.query<{ key: string; value: string }>('SELECT key, value FROM help_state')).map((row) => [
      row.key,
      row.value,
    ]),
  )
  const revision = Number(state.get('revision') ?? 0)
  if (revision === 0) return undefined
  const sources = await sql.query<{ source: string; docs: number; items: number; internal: number }>(
    'SELECT source, count(*)::integer AS docs, sum(items)::integer AS items, count(*) FILTER (WHERE is_internal)::integer AS internal FROM help_docs GROUP BY source ORDER BY source COLLATE "C"',
  )
  const [space] = await sql.query<EmbeddingSpace>(
    'SELECT provider, model, revision, dimensions, fingerprint FROM help_spaces',
  )
  const sum = (of: (row: (typeof sources)[number]) => number): number =>
    sources.reduce((total, row) => total + of(row), 0)
  return {
    revision,
    docs: sum(({ docs }) => docs),
    items: sum(({ items }) => items),
    internal_docs: sum(({ internal }) => internal),
    sources: sources.map(({ source, docs, items }) => ({ source, docs, items })),
    chunking: state.get('chunking') ?? '',
    ...(space === undefined ? {} : { space }),
    built_ms: Number(state.get('built_ms') ?? 0),
  }
}

/** From this number of rows, queries omit terms of more than a quarter of them, if others remain. */
const minRowsForOmission = 5000

/**
 * The common table `t`: the terms of $5 as queries with the weight ln(1 + (n - df + 0.5) / (df + 0.5)), because
 * `ts_rank` ignores document frequency. `phraseto_tsquery` has no syntax. Without `MATERIALIZED`, PostgreSQL would
 * count the rows of each term once per matching row.
 */
const withTerms = (table: string, column: string, language: string): string => `
  WITH counted AS MATERIALIZED (
    SELECT q, (SELECT count(*) FROM ${table} x WHERE x.${column} @@ q) AS df, (SELECT count(*) FROM ${table}) AS n
    FROM (SELECT DISTINCT phraseto_tsquery('${language}', term) AS q FROM unnest($5::text[]) AS term) AS asked
    WHERE numnode(q) > 0
  ), t AS MATERIALIZED (
    SELECT q, ln(1 + (n - df + 0.5) / (df + 0.5)) AS weight FROM counted
    WHERE df > 0 AND (n < ${minRowsForOmission} OR df * 4 <= n
      OR NOT EXISTS (SELECT 1 FROM counted WHERE df BETWEEN 1 AND n / 4))
  )`

/** Weights of text, unused, headings and titles. */
const weighted = (column: string): string => `t.weight * ts_rank('{0.2, 0.2, 0.6, 1.0}', ${column}, t.q)`

interface SearchArguments {
  readonly terms: readonly string[]
  readonly scope: Scope
  readonly limit: number
}

async function rankedItems(
  sql: Sql,
  { column, terms, scope, limit }: SearchArguments & { readonly column: 'stem' | 'exact' },
): Promise<readonly Hit[]> {
  if (terms.length === 0) return []
  const language = column === 'stem' ? 'english' : 'simple'
  return sql.query<Hit>(
    // Without OFFSET, PostgreSQL would sort whole rows to group them.
    `${withTerms('help_items', column, language)}
     SELECT item_id, doc_id FROM (
       SELECT i.id::integer AS item_id, i.doc_id::integer AS doc_id, ${weighted(`i.${column}`)} AS part
       FROM t JOIN help_items i ON i.${column} @@ t.q JOIN help_docs d ON d.id = i.doc_id
       WHERE ${inScope} OFFSET 0
     ) AS matched GROUP BY item_id, doc_id ORDER BY sum(part) DESC, item_id LIMIT $6`,
    [...toParameters(scope), terms, limit],
  )
}

async function rankedDocs(sql: Sql, { terms, scope, limit }: SearchArguments): Promise<readonly Hit[]> {
  if (terms.length === 0) return []
  return sql.query<Hit>(
    `${withTerms('help_docs', 'stem', 'english')}
     SELECT doc_id, NULL AS item_id FROM (
       SELECT d.id::integer AS doc_id, ${weighted('d.stem')} AS part FROM t JOIN help_docs d ON d.stem @@ t.q
       WHERE ${inScope} OFFSET 0
     ) AS matched GROUP BY doc_id ORDER BY sum(part) DESC, doc_id LIMIT $6`,
    [...toParameters(scope), terms, limit],
  )
}

/** Ranks pages by the text of visible links to them. */
async function rankedLinks(sql: Sql, { terms, scope, limit }: SearchArguments): Promise<readonly Hit[]> {
  if (terms.length === 0) return []
  return sql.query<Hit>(
    `${withTerms('help_links', 'stem', 'english')}
     SELECT d.id::integer AS doc_id, NULL AS item_id
     FROM t JOIN help_links l ON l.stem @@ t.q JOIN help_docs f ON f.id = l.doc_id
     JOIN help_docs d ON d.source = f.source AND d.file_path = l.file_path
     WHERE (f.is_internal = false OR $1::boolean) AND ${inScope}
     GROUP BY l.id, d.id ORDER BY sum(t.weight * ts_rank(l.stem, t.q, 1)) DESC, d.id, l.id LIMIT $6`,
    [...toParameters(scope), terms, limit],
  )
}

interface StoredItem extends Omit<ItemRow, 'columns'> {
  readonly from_column: number | null
  readonly to_column: number | null
}

const toItem = ({ from_column, to_column, ...row }: StoredItem): ItemRow => ({
  ...row,
  columns: from_column === null || to_column === null ? null : [from_column, to_column],
})
