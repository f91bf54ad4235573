/** The files of an export, and reading them back with everything checked. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { z } from 'zod'
import { type IndexFile, readIndex } from '../sqlite/read-index.ts'

/** Names of the files of an export in its folder. */
export const exportFiles = { database: 'help-public.db', metadata: 'metadata.json' } as const

/** Version of the files. */
export const exportFormat = 1

/** What an export says of itself. */
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

/** Metadata of an export. */
export type ExportMetadata = z.output<typeof metadataSchema>

/** An export larger than this is refused: it is read into memory to be checked. */
const mostBytes = 2 ** 31

/** The bytes and the metadata of an export; throws `HELP_IMPORT_REFUSED` where either is missing or altered. */
function readExport(folder: string): { metadata: ExportMetadata; bytes: Uint8Array; file: string } {
  const file = join(folder, exportFiles.database)
  const metadataFile = join(folder, exportFiles.metadata)
  for (const path of [file, metadataFile]) if (!existsSync(path)) throw refused(`there is no file ${path}`)
  if (statSync(file).size > mostBytes) throw refused('it is larger than 2 GiB')
  const metadata = metadataSchema.safeParse(parsed(readFileSync(metadataFile, 'utf8')))
  if (!metadata.success) throw refused('its metadata is not of a version that is known here')
  const bytes = readFileSync(file)
  if (sha256(bytes) !== metadata.data.sha256) throw refused('the database is not the one that was exported')
  return { metadata: metadata.data, bytes, file }
}

/** Opens the database of an export and checks that it is what its metadata says, public and whole; the caller closes it. */
export function openExport(folder: string): {
  metadata: ExportMetadata
  index: IndexFile
  bytes: Uint8Array
} {
  const { metadata, bytes, file } = readExport(folder)
  const problem = inDatabase(file, findProblem)
  if (problem !== undefined) throw refused(problem)
  const index = readIndex(file)
  const { docs, items, chunking } = index.facts
  if (docs !== metadata.docs_count || items !== metadata.items_count || chunking !== metadata.chunking) {
    void index.close()
    throw refused('its metadata counts other rows than it has')
  }
  return { metadata, index, bytes }
}

/** Opens a database file for one look at it; what is no index is refused. */
export function inDatabase<T>(file: string, look: (db: Database) => T): T {
  let db: Database | undefined
  try {
    db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    db.pragma('trusted_schema = OFF')
    return look(db)
  } catch (cause) {
    throw new CausewayError('HELP_IMPORT_REFUSED', 'the export cannot be read', { cause })
  } finally {
    db?.close()
  }
}

/** What is wrong with the rows of an export, in words. */
function findProblem(db: Database): string | undefined {
  const count = (sql: string): number => db.prepare<[], number>(sql).pluck().get() ?? 0
  if (db.pragma('quick_check(1)', { simple: true }) !== 'ok') return 'the database is damaged'
  if (
    count(
      'SELECT (SELECT count(*) FROM help_docs WHERE is_internal <> 0) + (SELECT count(*) FROM help_items WHERE is_internal <> 0)',
    ) > 0
  )
    return 'it holds internal pages'
  if (Number(db.pragma('freelist_count', { simple: true })) > 0) return 'it holds pages that were deleted'
  if (
    count('SELECT (SELECT count(*) FROM help_items) - (SELECT coalesce(sum(items), 0) FROM help_docs)') !== 0
  )
    return 'its pages have other pieces than they say'
  const known = new Set([
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
  const strange = tables.find(
    (name) => !known.has(name) && !/^help_fts_(stem|exact|doc|link)(_\w+)?$/.test(name),
  )
  return strange === undefined ? undefined : `it has a table that no export has: ${strange}`
}

/** SHA-256 of bytes, hex. */
export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const refused = (reason: string): CausewayError =>
  new CausewayError('HELP_IMPORT_REFUSED', `the export is refused: ${reason}`, { data: { reason } })
