export const indexSchema = `
CREATE TABLE help_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE help_docs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  file_path TEXT NOT NULL,
  title TEXT NOT NULL,
  section TEXT NOT NULL,
  section_key TEXT NOT NULL,
  language TEXT NOT NULL,
  items INTEGER NOT NULL,
  is_internal INTEGER NOT NULL CHECK (is_internal IN (0, 1)),
  content_hash TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (source, file_path)
) STRICT;
CREATE INDEX help_docs_section ON help_docs (section_key);
CREATE TABLE help_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  doc_id INTEGER NOT NULL REFERENCES help_docs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  heading TEXT NOT NULL,
  heading_level INTEGER NOT NULL,
  anchor TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  from_column INTEGER,
  to_column INTEGER,
  fence TEXT,
  text TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  is_internal INTEGER NOT NULL CHECK (is_internal IN (0, 1)),
  UNIQUE (doc_id, position)
) STRICT;
CREATE INDEX help_items_hash ON help_items (text_hash);
CREATE TRIGGER help_items_internal BEFORE INSERT ON help_items
WHEN NEW.is_internal <> (SELECT is_internal FROM help_docs WHERE id = NEW.doc_id)
BEGIN SELECT RAISE(ABORT, 'a piece is internal where its page is'); END;
CREATE TRIGGER help_docs_internal BEFORE UPDATE OF is_internal ON help_docs
WHEN NEW.is_internal <> OLD.is_internal AND EXISTS (SELECT 1 FROM help_items WHERE doc_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'a page is written again where it becomes internal'); END;
CREATE TABLE help_spaces (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  revision TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  params BLOB
) STRICT;
CREATE TABLE help_vectors (text_hash TEXT PRIMARY KEY, embedding BLOB NOT NULL) STRICT;
CREATE VIRTUAL TABLE help_fts_stem USING fts5(title, heading, text, content='', contentless_delete=1, tokenize='porter unicode61');
CREATE VIRTUAL TABLE help_fts_exact USING fts5(title, heading, text, content='', contentless_delete=1, tokenize="unicode61 tokenchars '_'");
CREATE VIRTUAL TABLE help_fts_doc USING fts5(title, headings, body, content='', contentless_delete=1, tokenize='porter unicode61');
`

/** Files of older versions do not have these tables. */
export const linkSchema = `
CREATE TABLE IF NOT EXISTS help_links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  doc_id INTEGER NOT NULL REFERENCES help_docs (id) ON DELETE CASCADE,
  file_path TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS help_links_doc ON help_links (doc_id);
CREATE VIRTUAL TABLE IF NOT EXISTS help_fts_link USING fts5(text, content='', contentless_delete=1, tokenize='porter unicode61');
`

/** Version of the tables. Files of other versions are not read. */
export const indexFormat = 1
