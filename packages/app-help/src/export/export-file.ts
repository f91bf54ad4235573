import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { CausewayError } from '@causeway/protocol'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { z } from 'zod'
import { HelpError } from '../errors.ts'
import { type IndexFile, readIndex } from '../storage/sqlite/read-index.ts'

export const exportFiles = { database: 'help-public.db', metadata: 'metadata.json' } as const

export const exportFormat = 1

const metadataSchema = z.object({
  format: z.literal(exportFormat),
  export_id: z.string().regex(/^[0-9a-f]{32}$/),
  export_date: z.string(),
  docs_count: z.int().min(0),
  items_count: z.int().min(0),
  embedding_space: z.looseObject({ fingerprint: z.string() }).nullable(),
  chunking: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

export type ExportMetadata = z.output<typeof metadataSchema>

const maxBytes = 2 ** 31

/** Throws `HELP_IMPORT_REFUSED` if a file is missing, modified, too large or of another version. */
function readExport(folder: string): { metadata: ExportMetadata; bytes: Uint8Array; file: string } {
  const file = join(folder, exportFiles.database)
  const metadataFile = join(folder, exportFiles.metadata)
  for (const path of [file, metadataFile]) if (!existsSync(path)) throw makeError(`file not found: ${path}`)
  if (statSync(file).size > maxBytes) throw makeError('it is larger than 2 GiB')
  const metadata = metadataSchema.safeParse(parseJson(readFileSync(metadataFile, 'utf8')))
  if (!metadata.success) throw makeError('the version of its metadata is not supported')
  const bytes = readFileSync(file)
  if (computeSha256(bytes) !== metadata.data.sha256) throw makeError('the database was modified')
  return { metadata: metadata.data, bytes, file }
}

/** Checks that the database matches the metadata. The caller must close the returned index. */
export function openExport(folder: string): {
  metadata: ExportMetadata
  index: IndexFile
  bytes: Uint8Array
} {
  const { metadata, bytes, file } = readExport(folder)
  const problem = withDatabase(file, findProblem)
  if (problem !== undefined) throw makeError(problem)
  const index = readIndex(file)
  const { docs, items, chunking } = index.facts
  if (docs !== metadata.docs_count || items !== metadata.items_count || chunking !== metadata.chunking) {
    void index.close()
    throw makeError('the counts of its metadata differ from its rows')
  }
  return { metadata, index, bytes }
}

/** Runs a function on a database file. Throws `HELP_IMPORT_REFUSED` if it cannot be read. */
export function withDatabase<T>(file: string, callback: (db: Database) => T): T {
  let db: Database | undefined
  try {
    db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    db.pragma('trusted_schema = OFF')
    return callback(db)
  } catch (cause) {
    throw new HelpError('HELP_IMPORT_REFUSED', 'the export cannot be read', { cause })
  } finally {
    db?.close()
  }
}

function findProblem(db: Database): string | undefined {
  const count = (sql: string): number => db.prepare<[], number>(sql).pluck().get() ?? 0
  if (db.pragma('quick_check(1)', { simple: true }) !== 'ok') return 'the database is damaged'
  if (
    count(
      'SELECT (SELECT count(*) FROM help_docs WHERE is_internal <> 0) + (SELECT count(*) FROM help_items WHERE is_internal <> 0)',
    ) > 0
  )
    return 'it contains internal pages'
  if (Number(db.pragma('freelist_count', { simple: true })) > 0) return 'it contains deleted pages'
  if (
    count('SELECT (SELECT count(*) FROM help_items) - (SELECT coalesce(sum(items), 0) FROM help_docs)') !== 0
  )
    return 'the chunk counts of its pages are wrong'
  const knownTables = new Set([
    'help_meta',
    'help_docs',
    'help_items',
    'help_links',
    'help_spaces',
    'help_vectors',
    'sqlite_sequence',
    'sqlite_stat1',
    'sqlite_stat4',
  ])
  const tables = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
    .pluck()
    .all()
  const unexpectedTable = tables.find(
    (name) => !knownTables.has(name) && !/^help_fts_(stem|exact|doc|link)(_\w+)?$/.test(name),
  )
  return unexpectedTable === undefined ? undefined : `it has an unexpected table: ${unexpectedTable}`
}

export const computeSha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const makeError = (reason: string): CausewayError =>
  new HelpError('HELP_IMPORT_REFUSED', `the export was rejected: ${reason}`, { data: { reason } })
