import { type ErrorRow, retry, row } from './row.ts'

/** Documentation search, and the vectors of texts. */
export const helpRows = {
  HELP_DOC_NOT_FOUND: row(
    -32000,
    404,
    'the documentation has no such document',
    'use one of data.nearest, or a doc_id of find_help_topics',
  ),
  HELP_SECTION_NOT_FOUND: row(
    -32000,
    404,
    'the documentation has no such section',
    'use one of data.nearest, or call list_help_sections',
  ),
  HELP_INTERNAL_FORBIDDEN: row(
    -32000,
    403,
    'internal documentation was asked for, and this server does not give it',
    'leave out include_internal; the operator may set CAUSEWAY_HELP_INTERNAL=true',
  ),
  HELP_NOT_BUILT: row(
    -32000,
    503,
    'no documentation is indexed yet',
    'call again in a few seconds, or run npm run help:build',
    retry,
  ),
  HELP_DATABASE_UNUSABLE: row(
    -32000,
    503,
    'the PostgreSQL server that keeps the documentation cannot be used',
    'see the message; correct CAUSEWAY_HELP_DATABASE_URL or the server, or leave the setting out to use SQLite',
    retry,
  ),
  HELP_BUILD_RUNNING: row(
    -32000,
    409,
    'another build of the documentation is under way',
    'wait until it has ended, then build again',
    retry,
  ),
  HELP_SOURCE_INVALID: row(
    -32000,
    422,
    'a source of documentation is not configured rightly',
    'write CAUSEWAY_HELP_SOURCES as name=folder, internal:name=folder or pkg:name',
  ),
  HELP_CHUNKING_CHANGED: row(
    -32000,
    409,
    'the index was cut into pieces by other rules',
    'run npm run help:rebuild',
  ),
  HELP_EXPORT_UNSAFE: row(
    -32000,
    500,
    'the export held what must not leave this machine, and was deleted',
    'run npm run help:rebuild, then export again; report it if it repeats',
  ),
  HELP_IMPORT_REFUSED: row(
    -32000,
    422,
    'the file is not an export of documentation that this version can read, or it was changed',
    'export it again with this version, and keep the database and its metadata together',
  ),
  EMBEDDING_SPACE_MISMATCH: row(
    -32000,
    409,
    'vectors of two embedding spaces cannot be compared',
    'run npm run help:rebuild, or configure the model that made the stored vectors',
  ),
  EMBEDDINGS_UNAVAILABLE: row(
    -32000,
    503,
    'the embeddings endpoint gives no vectors now',
    'check CAUSEWAY_EMBEDDINGS_URL and its key, then call again',
    retry,
  ),
  EMBEDDINGS_INVALID: row(
    -32000,
    502,
    'vectors cannot be used as they are',
    'check that the endpoint serves the configured model; rebuild where a stored model is damaged',
  ),
} satisfies Record<string, ErrorRow>
