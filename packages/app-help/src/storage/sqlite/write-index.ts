import { encodeVector } from '@causeway/embed'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { makeIndexedTitle, makeIndexedWords } from '../../domain/index-text.ts'
import { type Edition, firstInternalId, type IndexChange, type NewPage, type NewVectors } from '../types.ts'
import { indexFormat, indexSchema, linkSchema } from './index-schema.ts'

export function writeIndex(
  file: string,
  from: string | undefined,
  change: IndexChange,
  facts: { readonly revision: number; readonly now: number; readonly edition?: Edition },
): void {
  const db = createFile(from === undefined || change.fresh ? undefined : from, file)
  try {
    db.transaction(() => {
      if (facts.edition === 'internal') reserveIds(db)
      remove(db, change.removed)
      for (const page of change.pages) insert(db, page)
      if (change.vectors !== 'keep') putVectors(db, change.vectors)
      db.exec('DELETE FROM help_vectors WHERE text_hash NOT IN (SELECT text_hash FROM help_items)')
      const meta = db.prepare('INSERT OR REPLACE INTO help_meta (key, value) VALUES (?, ?)')
      const values = {
        format: indexFormat,
        chunking: change.chunking,
        revision: facts.revision,
        built_ms: facts.now,
      }
      for (const [key, value] of Object.entries(values)) meta.run(key, String(value))
    })()
    db.pragma('optimize')
  } finally {
    db.close()
  }
}

/** Creates the file. A vacuumed copy does not contain free pages, which could contain deleted text. */
function createFile(from: string | undefined, file: string): Database {
  if (from !== undefined) {
    const source = new BetterSqlite3(from, { readonly: true, fileMustExist: true })
    try {
      source.prepare('VACUUM INTO ?').run(file)
    } finally {
      source.close()
    }
  }
  const db = new BetterSqlite3(file)
  db.pragma('journal_mode = MEMORY')
  db.pragma('synchronous = OFF')
  db.pragma('foreign_keys = ON')
  db.pragma('secure_delete = ON')
  if (from === undefined) db.exec(indexSchema)
  db.exec(linkSchema)
  return db
}

function reserveIds(db: Database): void {
  const read = db.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'help_docs'").pluck()
  if ((read.get() ?? 0) >= firstInternalId) return
  db.prepare("DELETE FROM sqlite_sequence WHERE name = 'help_docs'").run()
  db.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('help_docs', ?)").run(firstInternalId)
}

function remove(db: Database, docs: readonly number[]): void {
  const items = db.prepare<[number], number>('SELECT id FROM help_items WHERE doc_id = ?').pluck()
  const deleteTerms = ['help_fts_stem', 'help_fts_exact'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE rowid = ?`),
  )
  const links = db.prepare<[number], number>('SELECT id FROM help_links WHERE doc_id = ?').pluck()
  const deleteLink = db.prepare('DELETE FROM help_fts_link WHERE rowid = ?')
  const deleteDoc = db.prepare('DELETE FROM help_fts_doc WHERE rowid = ?')
  const doc = db.prepare('DELETE FROM help_docs WHERE id = ?')
  for (const id of docs) {
    for (const item of items.all(id)) for (const statement of deleteTerms) statement.run(item)
    for (const link of links.all(id)) deleteLink.run(link)
    deleteDoc.run(id)
    doc.run(id)
  }
}

function insert(db: Database, page: NewPage): void {
  const { source, file_path, title, section, language, chunks, content_hash, body } = page
  const internal = page.is_internal ? 1 : 0
  const indexTitle = makeIndexedTitle(page)
  // A changed page retains its id, so that links to it remain valid.
  const existingPage = db
    .prepare<[string, string], number>('SELECT id FROM help_docs WHERE source = ? AND file_path = ?')
    .pluck()
    .get(source, file_path)
  if (existingPage !== undefined) remove(db, [existingPage])
  const { lastInsertRowid: id } = db
    .prepare(
      'INSERT INTO help_docs (id, source, file_path, title, section, section_key, language, items, is_internal, content_hash, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    )
    .run(
      page.doc_id ?? existingPage ?? null,
      source,
      file_path,
      title,
      section,
      section.toLowerCase(),
      language,
      chunks.length,
      internal,
      content_hash,
      body,
    )
  const item = db.prepare(
    'INSERT INTO help_items (doc_id, position, heading, heading_level, anchor, start_line, end_line, from_column, to_column, fence, text, text_hash, is_internal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const stem = db.prepare('INSERT INTO help_fts_stem (rowid, title, heading, text) VALUES (?, ?, ?, ?)')
  const exact = db.prepare('INSERT INTO help_fts_exact (rowid, title, heading, text) VALUES (?, ?, ?, ?)')
  for (const [chunkIndex, chunk] of chunks.entries()) {
    const { position, heading, heading_level, anchor, start_line, end_line, columns, fence, text } = chunk
    const { lastInsertRowid: itemId } = item.run(
      id,
      position,
      heading,
      heading_level,
      anchor,
      start_line,
      end_line,
      columns?.[0] ?? null,
      columns?.[1] ?? null,
      fence,
      text,
      page.text_hashes[chunkIndex],
      internal,
    )
    const indexedWords = makeIndexedWords(indexTitle, heading, text)
    stem.run(itemId, ...indexedWords.stem)
    exact.run(itemId, ...indexedWords.exact)
  }
  const link = db.prepare('INSERT INTO help_links (doc_id, file_path) VALUES (?, ?)')
  const insertLink = db.prepare('INSERT INTO help_fts_link (rowid, text) VALUES (?, ?)')
  for (const { to, text } of page.links) insertLink.run(link.run(id, to).lastInsertRowid, text)
  const headings = [...new Set(chunks.map(({ heading }) => heading))].join('\n')
  db.prepare('INSERT INTO help_fts_doc (rowid, title, headings, body) VALUES (?, ?, ?, ?)').run(
    id,
    ...makeIndexedWords(indexTitle, headings, body).stem,
  )
}

function putVectors(db: Database, vectors: NewVectors | undefined): void {
  db.exec('DELETE FROM help_vectors; DELETE FROM help_spaces;')
  if (vectors === undefined) return
  const { provider, model, revision, dimensions, fingerprint } = vectors.space
  db.prepare(
    'INSERT INTO help_spaces (id, provider, model, revision, dimensions, fingerprint, params) VALUES (1, ?, ?, ?, ?, ?, ?)',
  ).run(provider, model, revision, dimensions, fingerprint, vectors.model ?? null)
  const put = db.prepare('INSERT INTO help_vectors (text_hash, embedding) VALUES (?, ?)')
  for (const [hash, vector] of vectors.rows) put.run(hash, encodeVector(vector))
}
