import { encodeVector } from '@causeway/embed'
import { makeIndexedTitle, makeIndexedWords } from '../../domain/index-text.ts'
import type { IndexChange, NewPage, NewVectors } from '../types.ts'
import {
  byteTables,
  createVectorTablesSql,
  hasVectorExtension,
  minIndexedVectors,
  vectorIndex,
} from './schema.ts'
import { formatVector, insertRows, type Sql } from './sql.ts'
import { countTerms, docColumns, itemColumns, linkColumns, type TermVector } from './term-vector.ts'

export async function applyChange(sql: Sql, change: IndexChange): Promise<void> {
  if (change.fresh) await sql.query('DELETE FROM help_docs')
  if (change.removed.length > 0)
    await sql.query('DELETE FROM help_docs WHERE id = ANY($1::bigint[])', [change.removed])
  for (const page of change.pages) await putPage(sql, page)
  if (change.vectors !== 'keep') await putVectors(sql, change.vectors)
  // Without statistics, the first queries would use plans for empty tables.
  await sql.query('ANALYZE help_docs, help_items, help_links')
}

async function putPage(sql: Sql, page: NewPage): Promise<void> {
  const { source, file_path, title, section, language, chunks, is_internal, content_hash, body } = page
  // A changed page retains its id, so that links to it remain valid.
  const [existingPage] = await sql.query<{ id: string }>(
    'DELETE FROM help_docs WHERE source = $1 AND file_path = $2 RETURNING id',
    [source, file_path],
  )
  const headings = [...new Set(chunks.map(({ heading }) => heading))].join('\n')
  const indexTitle = makeIndexedTitle(page)
  const words = makeIndexedWords(indexTitle, headings, body).stem.map(truncate)
  const [row] = await sql.query<{ id: string }>(
    `INSERT INTO help_docs (id, source, file_path, title, section, section_key, language, items, is_internal, content_hash, body, stem, frequencies, length)
     VALUES (coalesce($1::bigint, nextval('help_docs_id_seq')), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::tsvector, $13::jsonb, $14) RETURNING id`,
    [
      page.doc_id ?? existingPage?.id ?? null,
      source,
      file_path,
      title,
      section,
      section.toLowerCase(),
      language,
      chunks.length,
      is_internal,
      content_hash,
      body,
      ...listTermCells(countTerms(words, docColumns, 'stem')),
    ],
  )
  const rows = chunks.map((chunk, i) => {
    const { stem, exact } = makeIndexedWords(indexTitle, chunk.heading, chunk.text)
    return [
      row?.id,
      chunk.position,
      chunk.heading,
      chunk.heading_level,
      chunk.anchor,
      chunk.start_line,
      chunk.end_line,
      chunk.columns?.[0] ?? null,
      chunk.columns?.[1] ?? null,
      chunk.fence,
      chunk.text,
      page.text_hashes[i],
      is_internal,
      ...listTermCells(countTerms(stem.map(truncate), itemColumns, 'stem')),
      ...listTermCells(countTerms(exact.map(truncate), itemColumns, 'exact')),
    ]
  })
  const values = Array.from({ length: 19 }, (_, i) => `$${i + 1}`)
  await insertRows(
    sql,
    'help_items (doc_id, position, heading, heading_level, anchor, start_line, end_line, from_column, to_column, fence, text, text_hash, is_internal, stem, stem_frequencies, stem_length, exact, exact_frequencies, exact_length)',
    rows,
    { values: values.map(addType) },
  )
  await putLinks(sql, row?.id, page)
}

async function putLinks(sql: Sql, id: string | undefined, { links }: NewPage): Promise<void> {
  await insertRows(
    sql,
    'help_links (doc_id, file_path, stem, frequencies, length)',
    links.map(({ to, text }) => [id, to, ...listTermCells(countTerms([text], linkColumns, 'stem'))]),
    { values: ['$1::bigint', '$2::text', '$3::tsvector', '$4::jsonb', '$5::integer'] },
  )
}

/** Types of non-text columns by position, because PostgreSQL does not infer the types of several rows. */
const types: Readonly<Record<number, string>> = {
  0: 'bigint',
  ...Object.fromEntries([1, 3, 5, 6, 7, 8, 15, 18].map((index) => [index, 'integer'])),
  12: 'boolean',
  ...Object.fromEntries([13, 16].map((index) => [index, 'tsvector'])),
  ...Object.fromEntries([14, 17].map((index) => [index, 'jsonb'])),
}

const addType = (value: string, index: number): string => `${value}::${types[index] ?? 'text'}`

const listTermCells = ({ vector, frequencies, length }: TermVector): unknown[] => [
  vector,
  frequencies,
  length,
]

/** PostgreSQL limits the words of a column to one megabyte. */
const truncate = (text: string): string => text.slice(0, 400_000)

async function putVectors(sql: Sql, vectors: NewVectors | undefined): Promise<void> {
  await sql.query('DELETE FROM help_spaces')
  if (vectors === undefined) return
  const { provider, model, revision, dimensions, fingerprint } = vectors.space
  await sql.query('INSERT INTO help_spaces VALUES (1, $1, $2, $3, $4, $5, $6)', [
    provider,
    model,
    revision,
    dimensions,
    fingerprint,
    vectors.model === undefined ? null : Buffer.from(vectors.model),
  ])
  if (dimensions === 0) return
  if (!(await hasVectorExtension(sql))) {
    for (const statement of byteTables) await sql.query(statement)
    const rows = [...vectors.rows].map(([hash, vector]) => [hash, Buffer.from(encodeVector(vector))])
    await insertRows(sql, 'help_vectors (text_hash, embedding)', rows, { values: ['$1::text', '$2::bytea'] })
    return
  }
  for (const statement of createVectorTablesSql(dimensions)) await sql.query(statement)
  const rows = [...vectors.rows].map(([hash, vector]) => [hash, formatVector(vector)])
  await insertRows(sql, 'help_vectors (text_hash, embedding)', rows, { values: ['$1::text', '$2::halfvec'] })
  await sql.query(
    `INSERT INTO help_page_vectors (doc_id, embedding)
     SELECT doc_id, mean FROM (
       SELECT i.doc_id, l2_normalize(avg(v.embedding)) AS mean
       FROM help_items i JOIN help_vectors v ON v.text_hash = i.text_hash GROUP BY i.doc_id
     ) AS page WHERE l2_norm(mean) > 0`,
  )
  if (rows.length >= minIndexedVectors) await sql.query(vectorIndex)
}

export const createCacheRows = (fingerprint: string, rows: ReadonlyMap<string, Float32Array>): unknown[][] =>
  [...rows].map(([hash, vector]) => [fingerprint, hash, Buffer.from(encodeVector(vector))])
