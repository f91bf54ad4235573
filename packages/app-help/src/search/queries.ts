import type { CausewayError } from '@causeway/protocol'
import { findNearestNames } from '../domain/nearest-name.ts'
import { HelpError } from '../errors.ts'
import type { BuildReport, DocRow, HelpIndex, HelpStorage, IndexFacts, Scope } from '../storage/types.ts'
import type { Reader } from './reader.ts'
import { type SearchAnswer, type SearchRequest, search } from './search.ts'

export type PageName =
  | { readonly doc_id: number }
  | { readonly file_path: string; readonly source?: string | undefined }

export interface PageText extends DocRow {
  readonly content: string
  /** First and last line of `content`, counted from 1. */
  readonly start_line: number
  readonly end_line: number
  readonly total_lines: number
}

export interface Lines {
  readonly from_line: number
  readonly max_lines: number
}

/** Runs queries on the newest index. Public queries read only the public edition. */
export class Queries {
  readonly #storage: HelpStorage
  readonly #reader: Reader
  readonly #internalReader: Reader

  constructor(storage: HelpStorage, reader: Reader, internal = reader) {
    this.#storage = storage
    this.#reader = reader
    this.#internalReader = internal
  }

  #getReader({ internal }: Scope): Reader {
    return internal ? this.#internalReader : this.#reader
  }

  /** Throws `HELP_SECTION_NOT_FOUND` and `HELP_SOURCE_NOT_FOUND`. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    return this.#getReader(request.scope).use(async (state) => {
      await requireScope(state.index, request.scope)
      return search(state, request, signal)
    })
  }

  /** Throws `HELP_DOC_NOT_FOUND` and `HELP_SOURCE_NOT_FOUND`. */
  readPage(name: PageName, lines: Lines, scope: Scope): Promise<PageText> {
    return this.#getReader(scope).use(async ({ index }) => {
      if ('file_path' in name) await requireScope(index, { ...scope, source: name.source })
      const doc = await findDocument(index, name, scope)
      const body = await index.readBody(doc.doc_id, scope)
      if (body === undefined) throw createNotFoundError(`document not found: ${doc.doc_id}`, [])
      const allLines = body.split('\n')
      const start = Math.min(Math.max(lines.from_line, 1), allLines.length)
      const end = Math.min(start + lines.max_lines - 1, allLines.length)
      const content = allLines.slice(start - 1, end).join('\n')
      return { ...doc, content, start_line: start, end_line: end, total_lines: allLines.length }
    })
  }

  listPages(scope: Scope): Promise<readonly DocRow[]> {
    return this.#getReader(scope).use(({ index }) => index.listDocs(scope))
  }

  readFacts(): Promise<IndexFacts> {
    return this.#reader.use(async ({ index }) => index.facts)
  }

  readRevision(): Promise<number> {
    return this.#storage.readRevision()
  }

  readLastReport(): Promise<BuildReport | undefined> {
    return this.#storage.readLastReport()
  }
}

async function requireScope(index: HelpIndex, { internal, section, source }: Scope): Promise<void> {
  if (section === undefined && source === undefined) return
  const docs = await index.listDocs({ internal })
  const sources = [...new Set(docs.map((doc) => doc.source))]
  if (source !== undefined && !sources.includes(source))
    throw new HelpError('HELP_SOURCE_NOT_FOUND', `source not found: ${source}`, {
      data: { source, nearest: findNearestNames(source, sources) },
    })
  const sections = [...new Set(docs.map((doc) => doc.section))]
  if (section === undefined || sections.some((name) => name.toLowerCase() === section.toLowerCase())) return
  throw new HelpError('HELP_SECTION_NOT_FOUND', `section not found: ${section}`, {
    data: { section, nearest: findNearestNames(section, sections) },
  })
}

async function findDocument(index: HelpIndex, name: PageName, scope: Scope): Promise<DocRow> {
  const docs = await index.listDocs(scope)
  if ('doc_id' in name) {
    const doc = docs.find(({ doc_id }) => doc_id === name.doc_id)
    if (doc === undefined) throw createNotFoundError(`document not found: ${name.doc_id}`, [])
    return doc
  }
  const { file_path, source } = name
  const path = file_path.replace(/^\.?\//, '')
  const matches = docs.filter(
    (doc) =>
      (doc.file_path === path || `${doc.source}/${doc.file_path}` === path) &&
      (source === undefined || doc.source === source),
  )
  if (matches.length === 1 && matches[0] !== undefined) return matches[0]
  if (matches.length > 1)
    throw createNotFoundError(`several documents have this path; pass doc_id or source: ${path}`, matches)
  const paths = new Map(docs.map((doc) => [`${doc.source}/${doc.file_path}`, doc]))
  const nearestDocs = findNearestNames(path, [...paths.keys()]).flatMap((path) => paths.get(path) ?? [])
  throw createNotFoundError(`document not found: ${path}`, nearestDocs)
}

function createNotFoundError(message: string, docs: readonly DocRow[]): CausewayError {
  const nearestDocs = docs.map(({ doc_id, source, file_path }) => ({ doc_id, source, file_path }))
  return new HelpError('HELP_DOC_NOT_FOUND', message, { data: { nearest: nearestDocs } })
}
