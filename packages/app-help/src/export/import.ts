/** Takes the pages of an export into the index, in the place of what the same sources had. */

import { join } from 'node:path'
import { vectorOf } from '@causeway/embed'
import type { BuildTools, Making } from '../build/build.ts'
import { make } from '../build/build.ts'
import { newPage, planPages } from '../build/plan.ts'
import type { IndexFile } from '../sqlite/read-index.ts'
import type { BuildReport, NewPage } from '../storage.ts'
import { exportFiles, inDatabase, openExport } from './export-file.ts'

/**
 * Imports an export. Its pages are cut again by the rules of this index; vectors of an endpoint are taken over where
 * the model is the same, so that none is paid for twice.
 *
 * Throws `HELP_IMPORT_REFUSED` for another version and for a file that was altered, and what a build throws.
 */
export async function importPublic(folder: string, making: Making, tools: BuildTools): Promise<BuildReport> {
  const { index } = openExport(folder)
  try {
    const pages = await exportedPages(index, making)
    const { space } = index.facts
    if (space !== undefined && space.provider !== 'lsa')
      await tools.storage.cacheVectors(space.fingerprint, exportedVectors(folder))
    return await make(making, tools, async (known) => planPages(pages, known))
  } finally {
    await index.close()
  }
}

async function exportedPages(index: IndexFile, { size }: Making): Promise<NewPage[]> {
  const hashes = new Map(index.known().map(({ doc_id, content_hash }) => [doc_id, content_hash]))
  const pages: NewPage[] = []
  for (const { doc_id, source, file_path } of await index.docs({ internal: false })) {
    const body = (await index.body(doc_id, { internal: false })) ?? ''
    pages.push(newPage({ source, file_path, body, is_internal: false }, size, hashes.get(doc_id) ?? ''))
  }
  return pages
}

function exportedVectors(folder: string): ReadonlyMap<string, Float32Array> {
  return inDatabase(join(folder, exportFiles.database), (db) => {
    const rows = db
      .prepare<[], { text_hash: string; embedding: Buffer }>('SELECT text_hash, embedding FROM help_vectors')
      .all()
    return new Map(rows.map(({ text_hash, embedding }) => [text_hash, vectorOf(embedding)]))
  })
}
