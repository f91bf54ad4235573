import { type Edition, firstInternalId } from '../types.ts'
import { internalSchema } from './connect.ts'
import type { Sql } from './sql.ts'

const format = 1

const tables = [
  'CREATE TABLE IF NOT EXISTS help_state (key text PRIMARY KEY, value text NOT NULL)',
  'CREATE TABLE IF NOT EXISTS help_lease (id integer PRIMARY KEY CHECK (id = 1), holder text NOT NULL, until_ms bigint NOT NULL)',
  `CREATE TABLE IF NOT EXISTS help_docs (
    id bigserial PRIMARY KEY,
    source text NOT NULL,
    file_path text NOT NULL,
    title text NOT NULL,
    section text NOT NULL,
    section_key text NOT NULL,
    language text NOT NULL,
    items integer NOT NULL,
    is_internal boolean NOT NULL,
    content_hash text NOT NULL,
    body text NOT NULL,
    stem tsvector NOT NULL,
    UNIQUE (source, file_path),
    UNIQUE (id, is_internal)
  )`,
  // The second column of the key ensures that a chunk is internal if its page is internal.
  `CREATE TABLE IF NOT EXISTS help_items (
    id bigserial PRIMARY KEY,
    doc_id bigint NOT NULL,
    position integer NOT NULL,
    heading text NOT NULL,
    heading_level integer NOT NULL,
    anchor text NOT NULL,
    start_line integer NOT NULL,
    end_line integer NOT NULL,
    from_column integer,
    to_column integer,
    fence text,
    text text NOT NULL,
    text_hash text NOT NULL,
    is_internal boolean NOT NULL,
    stem tsvector NOT NULL,
    exact tsvector NOT NULL,
    UNIQUE (doc_id, position),
    FOREIGN KEY (doc_id, is_internal) REFERENCES help_docs (id, is_internal) ON DELETE CASCADE
  )`,
  `CREATE TABLE IF NOT EXISTS help_links (
    id bigserial PRIMARY KEY, doc_id bigint NOT NULL REFERENCES help_docs (id) ON DELETE CASCADE, file_path text NOT NULL,
    stem tsvector NOT NULL
  )`,
  // Tables of older versions lack these columns, which the next build fills.
  'ALTER TABLE help_docs ADD COLUMN IF NOT EXISTS frequencies jsonb, ADD COLUMN IF NOT EXISTS length integer',
  'ALTER TABLE help_links ADD COLUMN IF NOT EXISTS frequencies jsonb, ADD COLUMN IF NOT EXISTS length integer',
  `ALTER TABLE help_items ADD COLUMN IF NOT EXISTS stem_frequencies jsonb, ADD COLUMN IF NOT EXISTS stem_length integer,
    ADD COLUMN IF NOT EXISTS exact_frequencies jsonb, ADD COLUMN IF NOT EXISTS exact_length integer`,
  'CREATE INDEX IF NOT EXISTS help_links_stem ON help_links USING gin (stem)',
  'CREATE INDEX IF NOT EXISTS help_links_doc ON help_links (doc_id)',
  'CREATE INDEX IF NOT EXISTS help_docs_stem ON help_docs USING gin (stem)',
  'CREATE INDEX IF NOT EXISTS help_items_stem ON help_items USING gin (stem)',
  'CREATE INDEX IF NOT EXISTS help_items_exact ON help_items USING gin (exact)',
  'CREATE INDEX IF NOT EXISTS help_items_hash ON help_items (text_hash)',
  `CREATE TABLE IF NOT EXISTS help_spaces (
    id integer PRIMARY KEY CHECK (id = 1), provider text NOT NULL, model text NOT NULL, revision text NOT NULL,
    dimensions integer NOT NULL, fingerprint text NOT NULL, params bytea
  )`,
  `CREATE TABLE IF NOT EXISTS help_vector_cache (
    fingerprint text NOT NULL, text_hash text NOT NULL, vector bytea NOT NULL, PRIMARY KEY (fingerprint, text_hash)
  )`,
  'CREATE TABLE IF NOT EXISTS help_vectors (text_hash text PRIMARY KEY, embedding bytea NOT NULL)',
  'CREATE TABLE IF NOT EXISTS help_page_vectors (doc_id bigint PRIMARY KEY, embedding bytea NOT NULL)',
]

export async function hasVectorExtension(sql: Sql): Promise<boolean> {
  return (await sql.query("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")).length > 0
}

/** Creates missing tables. Concurrent processes wait for one another. */
export async function makeTables(sql: Sql, edition: Edition): Promise<void> {
  await sql.query('SELECT pg_advisory_xact_lock(7283641)')
  if (await hasVectorExtension(sql)) await sql.query('CREATE EXTENSION IF NOT EXISTS vector SCHEMA public')
  if (edition === 'internal') await sql.query(`CREATE SCHEMA IF NOT EXISTS ${internalSchema}`)
  for (const statement of tables) await sql.query(statement)
  if (edition === 'internal')
    await sql.query(
      "SELECT setval('help_docs_id_seq', $1::bigint) FROM help_docs_id_seq WHERE last_value < $1::bigint",
      [firstInternalId],
    )
  await sql.query("INSERT INTO help_state (key, value) VALUES ('format', $1) ON CONFLICT (key) DO NOTHING", [
    String(format),
  ])
}

export async function isKnownFormat(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ value: string }>("SELECT value FROM help_state WHERE key = 'format'")
  return row?.value === String(format)
}

export const byteTables: readonly string[] = [
  'DROP TABLE IF EXISTS help_vectors',
  'CREATE TABLE help_vectors (text_hash text PRIMARY KEY, embedding bytea NOT NULL)',
]

export const createVectorTablesSql = (dimensions: number): readonly string[] => [
  'DROP TABLE IF EXISTS help_vectors',
  'DROP TABLE IF EXISTS help_page_vectors',
  `CREATE TABLE help_vectors (text_hash text PRIMARY KEY, embedding halfvec(${dimensions}) NOT NULL)`,
  `CREATE TABLE help_page_vectors (doc_id bigint PRIMARY KEY, embedding halfvec(${dimensions}) NOT NULL)`,
]

/** Minimum number of vectors for which an approximate index (HNSW) is faster than a scan. */
export const minIndexedVectors = 5000

export const vectorIndex =
  'CREATE INDEX IF NOT EXISTS help_vectors_nearest ON help_vectors USING hnsw (embedding halfvec_cosine_ops) WITH (m = 16, ef_construction = 64)'
