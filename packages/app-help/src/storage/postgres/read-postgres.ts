import type { EmbeddingSpace } from '@causeway/embed'
import type { Hit } from '../../domain/fuse.ts'
import { minItemsForOmission, selectRareTerms } from '../../domain/query.ts'
import type { DocRow, HelpIndex, IndexFacts, ItemRow, Scope } from '../types.ts'
import { scopeCondition, toParameters } from './scope.ts'
import type { PostgresVectors } from './search-vectors.ts'
import type { PostgresDatabase, Sql } from './sql.ts'
import {
  type Columns,
  createQueryTerms,
  docColumns as docTerms,
  itemColumns as itemTerms,
  linkColumns,
  splitTerms,
  type TermKind,
} from './term-vector.ts'

const docColumns =
  'd.id::integer AS doc_id, d.source, d.file_path, d.title, d.section, d.language, d.items, d.is_internal'

const itemColumns =
  'id::integer AS item_id, doc_id::integer AS doc_id, position, heading, heading_level, anchor, start_line, end_line, from_column, to_column, fence, text'

/** Opens the published index. Each ranked list comes from one statement and is therefore consistent. */
export async function readPostgres(
  db: PostgresDatabase,
  facts: IndexFacts,
  vectors: PostgresVectors,
): Promise<HelpIndex> {
  const statistics = await readStatistics(db)
  return {
    facts,
    async rank({ words: allWords, otherWords: allOthers, identifiers, vector, scope, limit }) {
      const [words, others] = await Promise.all([
        omitFrequent(db, allWords, facts),
        omitFrequent(db, allOthers, facts),
      ])
      const search = { scope, limit, statistics }
      const items = (column: 'stem' | 'exact', terms: readonly string[]) =>
        rankItems(db, column, { ...search, terms })
      const [stem, exact, synonym, doc, link, identifier, nearest] = await Promise.all([
        items('stem', words),
        items('exact', words),
        others.length === 0 ? [] : items('stem', [...words, ...others]),
        rankDocs(db, { ...search, terms: words }),
        rankLinks(db, { ...search, terms: [...words, ...others] }),
        items('exact', identifiers),
        vector === undefined ? {} : vectors.nearest({ vector, scope, limit }),
      ])
      return { stem, exact, synonym, doc, link, identifier, ...nearest }
    },
    computeSimilarities: (ids, vector) => vectors.similarities(ids, vector),
    async readItems(ids) {
      const rows = await db.query<StoredItem>(
        `SELECT ${itemColumns} FROM help_items WHERE id = ANY($1::bigint[]) ORDER BY id`,
        [ids],
      )
      return rows.map(toItem)
    },
    async listItemIds(docId) {
      const rows = await db.query<{ id: number }>(
        'SELECT id::integer AS id FROM help_items WHERE doc_id = $1 ORDER BY position',
        [docId],
      )
      return rows.map(({ id }) => id)
    },
    listDocs: (scope) =>
      db.query<DocRow>(
        `SELECT ${docColumns} FROM help_docs d WHERE ${scopeCondition} ORDER BY d.section COLLATE "C", d.source COLLATE "C", d.file_path COLLATE "C"`,
        toParameters(scope),
      ),
    readDocs: (ids) =>
      db.query<DocRow>(`SELECT ${docColumns} FROM help_docs d WHERE d.id = ANY($1::bigint[])`, [ids]),
    async readBody(docId, scope) {
      const [row] = await db.query<{ body: string }>(
        `SELECT d.body FROM help_docs d WHERE ${scopeCondition} AND d.id = $5`,
        [...toParameters(scope), docId],
      )
      return row?.body
    },
    async readSpaceModel() {
      const [row] = await db.query<{ params: Uint8Array | null }>('SELECT params FROM help_spaces')
      return row?.params ?? undefined
    },
    close: async () => {},
  }
}

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
  const sum = (getCount: (row: (typeof sources)[number]) => number): number =>
    sources.reduce((total, row) => total + getCount(row), 0)
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

async function omitFrequent(
  sql: Sql,
  terms: readonly string[],
  { items }: IndexFacts,
): Promise<readonly string[]> {
  if (items < minItemsForOmission || terms.length === 0) return terms
  const { queries, words } = createQueryTerms(terms, 'exact')
  const rows = await sql.query<{ words: string; count: number }>(
    `SELECT words, (SELECT count(*)::integer FROM help_items i WHERE i.exact @@ q::tsquery) AS count
     FROM unnest($1::text[], $2::text[]) AS asked (q, words)`,
    [queries, words],
  )
  const counts = new Map(rows.map(({ words: name, count }) => [name, count]))
  return selectRareTerms(terms, items, (term) => counts.get(splitTerms(term, 'exact').join(' ')) ?? 0)
}

interface TermColumns {
  readonly table: 'help_items' | 'help_docs' | 'help_links'
  readonly vector: TermKind
  readonly frequencies: string
  readonly length: string
  readonly columns: Columns
}

const columns = {
  stem: {
    table: 'help_items',
    vector: 'stem',
    frequencies: 'stem_frequencies',
    length: 'stem_length',
    columns: itemTerms,
  },
  exact: {
    table: 'help_items',
    vector: 'exact',
    frequencies: 'exact_frequencies',
    length: 'exact_length',
    columns: itemTerms,
  },
  doc: {
    table: 'help_docs',
    vector: 'stem',
    frequencies: 'frequencies',
    length: 'length',
    columns: docTerms,
  },
  link: {
    table: 'help_links',
    vector: 'stem',
    frequencies: 'frequencies',
    length: 'length',
    columns: linkColumns,
  },
} as const satisfies Readonly<Record<string, TermColumns>>

interface TermStatistics {
  readonly rows: number
  readonly mean: number
}

type Statistics = Readonly<Record<keyof typeof columns, TermStatistics>>

async function readStatistics(sql: Sql): Promise<Statistics> {
  const readTermStatistics = async ({ table, length }: TermColumns): Promise<TermStatistics> => {
    const [row] = await sql.query<TermStatistics>(
      `SELECT count(*)::integer AS rows, coalesce(avg(${length}), 1)::float8 AS mean FROM ${table}`,
    )
    return row ?? { rows: 0, mean: 1 }
  }
  const [stem, exact, doc, link] = await Promise.all([
    readTermStatistics(columns.stem),
    readTermStatistics(columns.exact),
    readTermStatistics(columns.doc),
    readTermStatistics(columns.link),
  ])
  return { stem, exact, doc, link }
}

/**
 * Common table `t`: the query's terms with their inverse document frequency. `MATERIALIZED` prevents counting a
 * term's rows for each match. Uses the parameters $5 to $7.
 */
const createTermsTableSql = ({ table, vector }: TermColumns): string => `
  WITH counted AS MATERIALIZED (
    SELECT q::tsquery AS q, words, (SELECT count(*) FROM ${table} x WHERE x.${vector} @@ q::tsquery) AS df
    FROM unnest($5::text[], $6::text[]) AS asked (q, words)
  ), t AS MATERIALIZED (
    SELECT q, words, greatest(ln(($7::float8 - df + 0.5) / (df + 0.5)), 1e-6) AS idf FROM counted WHERE df > 0
  )`

const createPhraseCountSql = (row: string, { vector, columns }: TermColumns): string => `(
  SELECT sum(weight) FROM (
    SELECT CASE min(label) ${columns.map(([label, weight]) => `WHEN '${label}' THEN ${weight}`).join(' ')} END AS weight
    FROM unnest(string_to_array(t.words, ' ')) WITH ORDINALITY AS part (word, place)
    JOIN unnest(${row}.${vector}) AS term (word, positions, labels) USING (word), unnest(positions, labels) AS found (position, label)
    GROUP BY position - place HAVING count(*) = cardinality(string_to_array(t.words, ' '))
  ) AS phrases)`

/**
 * BM25 score of a term in a row, as in SQLite's `bm25`: k1 is 1.2 and b is 0.75. Rows of earlier versions lack
 * frequencies. Uses $8, the mean length of a row.
 */
const createScoreSql = (row: string, columns: TermColumns): string => {
  const { frequencies, length } = columns
  const frequency = `CASE WHEN t.words LIKE '% %' THEN ${createPhraseCountSql(row, columns)} ELSE (${row}.${frequencies} ->> t.words)::float8 END`
  return `(SELECT t.idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * coalesce(${row}.${length}, $8::float8) / $8::float8)) FROM (SELECT coalesce(${frequency}, 1) AS f) AS g)`
}

/** Rounds the sum, because the order of additions changes its last digits and ties must be sorted by id. */
const createSumSql = (expression: string): string => `round(sum(${expression})::numeric, 12)`

interface SearchArguments {
  readonly terms: readonly string[]
  readonly scope: Scope
  readonly limit: number
  readonly statistics: Statistics
}

const createRankParameters = (
  name: keyof typeof columns,
  { terms, scope, limit, statistics }: SearchArguments,
) => {
  const { queries, words } = createQueryTerms(terms, columns[name].vector)
  const { rows, mean } = statistics[name]
  return [...toParameters(scope), queries, words, rows, mean, limit]
}

async function rankItems(
  sql: Sql,
  column: 'stem' | 'exact',
  search: SearchArguments,
): Promise<readonly Hit[]> {
  if (search.terms.length === 0) return []
  return sql.query<Hit>(
    // Without OFFSET, PostgreSQL would sort whole rows to group them.
    `${createTermsTableSql(columns[column])}
     SELECT item_id, doc_id FROM (
       SELECT i.id::integer AS item_id, i.doc_id::integer AS doc_id, ${createScoreSql('i', columns[column])} AS part
       FROM t JOIN help_items i ON i.${column} @@ t.q JOIN help_docs d ON d.id = i.doc_id
       WHERE ${scopeCondition} OFFSET 0
     ) AS matched GROUP BY item_id, doc_id ORDER BY ${createSumSql('part')} DESC, item_id LIMIT $9`,
    createRankParameters(column, search),
  )
}

async function rankDocs(sql: Sql, search: SearchArguments): Promise<readonly Hit[]> {
  if (search.terms.length === 0) return []
  return sql.query<Hit>(
    `${createTermsTableSql(columns.doc)}
     SELECT doc_id, NULL AS item_id FROM (
       SELECT d.id::integer AS doc_id, ${createScoreSql('d', columns.doc)} AS part FROM t JOIN help_docs d ON d.stem @@ t.q
       WHERE ${scopeCondition} OFFSET 0
     ) AS matched GROUP BY doc_id ORDER BY ${createSumSql('part')} DESC, doc_id LIMIT $9`,
    createRankParameters('doc', search),
  )
}

async function rankLinks(sql: Sql, search: SearchArguments): Promise<readonly Hit[]> {
  if (search.terms.length === 0) return []
  return sql.query<Hit>(
    `${createTermsTableSql(columns.link)}
     SELECT d.id::integer AS doc_id, NULL AS item_id
     FROM t JOIN help_links l ON l.stem @@ t.q JOIN help_docs f ON f.id = l.doc_id
     JOIN help_docs d ON d.source = f.source AND d.file_path = l.file_path
     WHERE (f.is_internal = false OR $1::boolean) AND ${scopeCondition}
     GROUP BY l.id, d.id ORDER BY ${createSumSql(createScoreSql('l', columns.link))} DESC, d.id, l.id LIMIT $9`,
    createRankParameters('link', search),
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
