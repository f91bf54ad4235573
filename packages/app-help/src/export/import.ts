import { join } from 'node:path'
import { decodeVector } from '@causeway/embed'
import type { BuildContext, BuildOptions } from '../build/build.ts'
import { buildFromPlan } from '../build/build.ts'
import { makePage, planPages } from '../build/plan.ts'
import type { IndexFile } from '../storage/sqlite/read-index.ts'
import type { BuildReport, NewPage } from '../storage/types.ts'
import { exportFiles, openExport, withDatabase } from './export-file.ts'

/**
 * Replaces the pages of the exported sources. Splits pages by the chunking rules of this index, and reuses vectors of
 * the same model.
 */
export async function importPublic(
  folder: string,
  options: BuildOptions,
  context: BuildContext,
): Promise<BuildReport> {
  const { index } = openExport(folder)
  try {
    const pages = await listExportedPages(index, options)
    const { space } = index.facts
    if (space !== undefined && space.provider !== 'lsa')
      await context.storage.cacheVectors(space.fingerprint, listExportedVectors(folder))
    return await buildFromPlan(options, context, async (knownPages) => planPages(pages, knownPages))
  } finally {
    await index.close()
  }
}

async function listExportedPages(index: IndexFile, { size }: BuildOptions): Promise<NewPage[]> {
  const hashes = new Map(index.listKnownPages().map(({ doc_id, content_hash }) => [doc_id, content_hash]))
  const pages: NewPage[] = []
  for (const { doc_id, source, file_path } of await index.listDocs({ internal: false })) {
    const body = (await index.readBody(doc_id, { internal: false })) ?? ''
    pages.push(makePage({ source, file_path, body, is_internal: false }, size, hashes.get(doc_id) ?? ''))
  }
  return pages
}

function listExportedVectors(folder: string): ReadonlyMap<string, Float32Array> {
  return withDatabase(join(folder, exportFiles.database), (db) => {
    const rows = db
      .prepare<[], { text_hash: string; embedding: Buffer }>('SELECT text_hash, embedding FROM help_vectors')
      .all()
    return new Map(rows.map(({ text_hash, embedding }) => [text_hash, decodeVector(embedding)]))
  })
}
