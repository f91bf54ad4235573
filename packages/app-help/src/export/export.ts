/**
 * Copies the public pages into a file of their own: a new index that is made of their texts alone, so that nothing of
 * an internal page can come along, not in deleted rows, not in an index, not in the vectors. It is read back and
 * searched for what only internal pages say before it has its name.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeLsa, openLsa, trainLsa } from '@causeway/embed'
import { CausewayError } from '@causeway/protocol'
import BetterSqlite3 from 'better-sqlite3'
import type { BuildCall } from '../build/make-vectors.ts'
import { newPage, sizeOf } from '../build/plan.ts'
import { embeddedText } from '../domain/index-text.ts'
import { lsaDimensions } from '../embedding.ts'
import { writeIndex } from '../sqlite/write-index.ts'
import type { HelpIndex, HelpStorage, NewPage, NewVectors } from '../storage.ts'
import { findLeak, gatherEvidence } from './evidence.ts'
import {
  type ExportMetadata,
  exportFiles,
  exportFormat,
  inDatabase,
  openExport,
  sha256,
} from './export-file.ts'

/** What exporting uses of the world. */
export interface ExportTools extends BuildCall {
  readonly storage: HelpStorage
  readonly now: () => number
  /** 32 hex digits. */
  readonly newId: () => string
}

/**
 * Exports into a folder. The database has the same bytes whenever the public pages are the same.
 *
 * Throws `HELP_NOT_BUILT`, `HELP_EXPORT_UNSAFE` (the files are deleted), `CANCELLED`.
 */
export async function exportPublic(folder: string, tools: ExportTools): Promise<ExportMetadata> {
  const index = await tools.storage.open()
  if (index === undefined) throw new CausewayError('HELP_NOT_BUILT', 'there is nothing to export')
  try {
    return await exportIndex(index, folder, tools)
  } finally {
    await index.close()
  }
}

async function exportIndex(index: HelpIndex, folder: string, tools: ExportTools): Promise<ExportMetadata> {
  mkdirSync(folder, { recursive: true })
  const [database, metadataFile] = [exportFiles.database, exportFiles.metadata].map((name) =>
    join(folder, name),
  )
  if (database === undefined || metadataFile === undefined) throw new Error('two files')
  const part = `${database}.part`
  const pages = await publicPages(index)
  const vectors = await publicVectors(index, pages, tools)
  const clean = (): void => {
    for (const file of [part, `${part}-journal`, database, metadataFile]) rmSync(file, { force: true })
  }
  clean()
  try {
    const { chunking } = index.facts
    // Neither a date nor a count of builds: an export tells nothing of what else there was.
    writeIndex(
      part,
      undefined,
      { fresh: true, removed: [], pages, chunking, vectors },
      { revision: 1, now: 0 },
    )
    compact(part)
    const metadata: ExportMetadata = {
      format: exportFormat,
      export_id: tools.newId(),
      export_date: new Date(tools.now()).toISOString(),
      docs_count: pages.length,
      items_count: pages.reduce((sum, page) => sum + page.chunks.length, 0),
      embedding_space: vectors === undefined ? null : { ...vectors.space },
      chunking,
      sha256: sha256(readFileSync(part)),
    }
    renameSync(part, database)
    writeFileSync(metadataFile, `${JSON.stringify(metadata, null, 2)}\n`)
    await verifyExport(folder, index)
    return metadata
  } catch (error) {
    clean()
    throw error
  }
}

/**
 * Checks an export by its own metadata and, given the index that it was made from, for anything internal.
 * Throws `HELP_IMPORT_REFUSED` and `HELP_EXPORT_UNSAFE`.
 */
export async function verifyExport(folder: string, origin: HelpIndex | undefined): Promise<ExportMetadata> {
  const { metadata, index, bytes } = openExport(folder)
  await index.close()
  if (origin === undefined) return metadata
  const evidence = await gatherEvidence(origin)
  const leak = inDatabase(join(folder, exportFiles.database), (db) => findLeak(evidence, bytes, db))
  if (leak === undefined) return metadata
  throw new CausewayError('HELP_EXPORT_UNSAFE', `the export holds ${leak}`, { data: { leak } })
}

/** The allow-list: pages that are public by their source and by themselves, read again from their text. */
async function publicPages(index: HelpIndex): Promise<NewPage[]> {
  const pages: NewPage[] = []
  const size = sizeOf(index.facts.chunking)
  for (const doc of await index.docs({ internal: false })) {
    const { doc_id, source, file_path } = doc
    const body = await index.body(doc_id, { internal: false })
    if (body === undefined || doc.is_internal) continue
    const page = newPage(
      { source, file_path, body, is_internal: false },
      size,
      sha256(Buffer.from(body)).slice(0, 32),
    )
    if (!page.is_internal) pages.push(page)
  }
  // A link to a page that stays behind would tell its path.
  const kept = new Set(pages.map(({ source, file_path }) => `${source}\n${file_path}`))
  return pages.map((page) => ({
    ...page,
    links: page.links.filter(({ to }) => kept.has(`${page.source}\n${to}`)),
  }))
}

/** An analysis of the public texts alone, or the vectors that were paid for; none where some of those are missing. */
async function publicVectors(
  index: HelpIndex,
  pages: readonly NewPage[],
  { storage, signal }: ExportTools,
): Promise<NewVectors | undefined> {
  const { space } = index.facts
  if (space === undefined) return undefined
  const texts = new Map(
    pages.flatMap(({ title, chunks, text_hashes }) =>
      chunks.map(
        ({ heading, text }, i) => [text_hashes[i] ?? '', embeddedText(title, heading, text)] as const,
      ),
    ),
  )
  if (space.provider !== 'lsa') {
    const rows = await storage.cachedVectors(space.fingerprint, [...texts.keys()])
    return rows.size === texts.size ? { space, rows } : undefined
  }
  const model = await trainLsa([...texts.values()], { dimensions: lsaDimensions, signal })
  const made = await openLsa(model).embedDocuments([...texts.values()], { signal })
  const rows = new Map(
    [...texts.keys()].flatMap((hash, i) => (made[i] === undefined ? [] : [[hash, made[i]]])),
  )
  return { space: model.space, model: encodeLsa(model), rows }
}

/** Writes a file anew, without free pages. */
function compact(file: string): void {
  const db = new BetterSqlite3(file)
  try {
    db.exec('VACUUM')
  } finally {
    db.close()
  }
}
