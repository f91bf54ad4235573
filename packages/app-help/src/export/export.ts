import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeLsa, openLsa, trainLsa } from '@causeway/embed'
import { createFolder } from '@causeway/protocol'
import BetterSqlite3 from 'better-sqlite3'
import type { BuildCall } from '../build/make-vectors.ts'
import { makePage, parseChunking } from '../build/plan.ts'
import { makeEmbeddedText } from '../domain/index-text.ts'
import { lsaDimensions } from '../embedding.ts'
import { HelpError } from '../errors.ts'
import { writeIndex } from '../storage/sqlite/write-index.ts'
import type { HelpIndex, HelpStorage, NewPage, NewVectors } from '../storage/types.ts'
import { collectEvidence, findLeak } from './evidence.ts'
import {
  computeSha256,
  type ExportMetadata,
  exportFiles,
  exportFormat,
  openExport,
  withDatabase,
} from './export-file.ts'

interface ExportContext extends BuildCall {
  readonly storage: HelpStorage
  /** An index with internal pages, used to check the export. The default is the exported index. */
  readonly origin?: HelpIndex | undefined
  readonly now: () => number
  /** Returns 32 hex digits. */
  readonly newId: () => string
}

/**
 * Exports the public pages as a new index, created only from their texts and checked for internal data. The same
 * pages give the same index bytes. Throws `HELP_NOT_BUILT`, `HELP_EXPORT_UNSAFE` (after deleting the files) and
 * `CANCELLED`.
 */
export async function exportPublic(folder: string, context: ExportContext): Promise<ExportMetadata> {
  const index = await context.storage.open()
  if (index === undefined) throw new HelpError('HELP_NOT_BUILT', 'no index exists to export')
  try {
    return await exportIndex(index, folder, context)
  } finally {
    await index.close()
  }
}

async function exportIndex(
  index: HelpIndex,
  folder: string,
  context: ExportContext,
): Promise<ExportMetadata> {
  createFolder(folder)
  const [database, metadataFile] = [exportFiles.database, exportFiles.metadata].map((name) =>
    join(folder, name),
  )
  if (database === undefined || metadataFile === undefined) throw new Error('two files')
  const temporaryFile = `${database}.part`
  const pages = await readPublicPages(index)
  const vectors = await computePublicVectors(index, pages, context)
  const removeTemporaryFiles = (): void => {
    for (const file of [temporaryFile, `${temporaryFile}-journal`, database, metadataFile])
      rmSync(file, { force: true })
  }
  removeTemporaryFiles()
  try {
    const { chunking } = index.facts
    // Date and revision would reveal other builds.
    writeIndex(
      temporaryFile,
      undefined,
      { fresh: true, removed: [], pages, chunking, vectors },
      { revision: 1, now: 0 },
    )
    compact(temporaryFile)
    const metadata: ExportMetadata = {
      format: exportFormat,
      export_id: context.newId(),
      export_date: new Date(context.now()).toISOString(),
      docs_count: pages.length,
      items_count: pages.reduce((sum, page) => sum + page.chunks.length, 0),
      embedding_space: vectors === undefined ? null : { ...vectors.space },
      chunking,
      sha256: computeSha256(readFileSync(temporaryFile)),
    }
    renameSync(temporaryFile, database)
    writeFileSync(metadataFile, `${JSON.stringify(metadata, null, 2)}\n`)
    await verifyExport(folder, context.origin ?? index)
    return metadata
  } catch (error) {
    removeTemporaryFiles()
    throw error
  }
}

/**
 * Checks an export against its metadata and, if `origin` is given, for internal data. Throws `HELP_IMPORT_REFUSED`
 * and `HELP_EXPORT_UNSAFE`.
 */
export async function verifyExport(folder: string, origin: HelpIndex | undefined): Promise<ExportMetadata> {
  const { metadata, index, bytes } = openExport(folder)
  await index.close()
  if (origin === undefined) return metadata
  const evidence = await collectEvidence(origin)
  const leak = withDatabase(join(folder, exportFiles.database), (db) => findLeak(evidence, bytes, db))
  if (leak === undefined) return metadata
  throw new HelpError('HELP_EXPORT_UNSAFE', `the export contains ${leak}`, { data: { leak } })
}

/** Parses the text and front matter of each public page again. */
async function readPublicPages(index: HelpIndex): Promise<NewPage[]> {
  const pages: NewPage[] = []
  const size = parseChunking(index.facts.chunking)
  for (const doc of await index.listDocs({ internal: false })) {
    const { doc_id, source, file_path } = doc
    const body = await index.readBody(doc_id, { internal: false })
    if (body === undefined || doc.is_internal) continue
    const page = makePage(
      { source, file_path, body, is_internal: false },
      size,
      computeSha256(Buffer.from(body)).slice(0, 32),
    )
    if (!page.is_internal) pages.push(page)
  }
  // Links to internal pages would reveal their paths.
  const publicKeys = new Set(pages.map(({ source, file_path }) => `${source}\n${file_path}`))
  return pages.map((page) => ({
    ...page,
    links: page.links.filter(({ to }) => publicKeys.has(`${page.source}\n${to}`)),
  }))
}

/** Returns `undefined` if the index or the cache lacks vectors. */
async function computePublicVectors(
  index: HelpIndex,
  pages: readonly NewPage[],
  { storage, signal }: ExportContext,
): Promise<NewVectors | undefined> {
  const { space } = index.facts
  if (space === undefined) return undefined
  const texts = new Map(
    pages.flatMap(({ title, chunks, text_hashes }) =>
      chunks.map(
        ({ heading, text }, i) => [text_hashes[i] ?? '', makeEmbeddedText(title, heading, text)] as const,
      ),
    ),
  )
  if (space.provider !== 'lsa') {
    const rows = await storage.readCachedVectors(space.fingerprint, [...texts.keys()])
    return rows.size === texts.size ? { space, rows } : undefined
  }
  const model = await trainLsa([...texts.values()], { dimensions: lsaDimensions, signal })
  const lsaVectors = await openLsa(model).embedDocuments([...texts.values()], { signal })
  const rows = new Map(
    [...texts.keys()].flatMap((hash, i) => (lsaVectors[i] === undefined ? [] : [[hash, lsaVectors[i]]])),
  )
  return { space: model.space, model: encodeLsa(model), rows }
}

function compact(file: string): void {
  const db = new BetterSqlite3(file)
  try {
    db.exec('VACUUM')
  } finally {
    db.close()
  }
}
