import type { CausewayError } from '@causeway/protocol'
import { findNearestNames } from '../domain/nearest-name.ts'
import { HelpError } from '../errors.ts'
import type { BuildReport, DocRow, HelpIndex, HelpStorage, IndexFacts, Scope } from '../storage/types.ts'
import type { Reader } from './reader.ts'
import { type SearchAnswer, type SearchRequest, search } from './search.ts'

/** A page by its id, or by its path with or without its source. */
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
  readonly #internal: Reader

  constructor(storage: HelpStorage, reader: Reader, internal = reader) {
    this.#storage = storage
    this.#reader = reader
    this.#internal = internal
  }

  #getReader({ internal }: Scope): Reader {
    return internal ? this.#internal : this.#reader
  }

  /** Throws `HELP_SECTION_NOT_FOUND` and `HELP_SOURCE_NOT_FOUND`. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    return this.#getReader(request.scope).use(async (state) => {
      await requireScope(state.index, request.scope)
      return search(state, request, signal)
    })
  }

  /** Throws `HELP_DOC_NOT_FOUND` and `HELP_SOURCE_NOT_FOUND`. */
  page(name: PageName, lines: Lines, scope: Scope): Promise<PageText> {
    return this.#getReader(scope).use(async ({ index }) => {
      if ('file_path' in name) await requireScope(index, { ...scope, source: name.source })
      const doc = await findDocument(index, name, scope)
      const body = await index.body(doc.doc_id, scope)
      if (body === undefined) throw createNotFoundError(`document not found: ${doc.doc_id}`, [])
      const all = body.split('\n')
      const start = Math.min(Math.max(lines.from_line, 1), all.length)
      const end = Math.min(start + lines.max_lines - 1, all.length)
      const content = all.slice(start - 1, end).join('\n')
      return { ...doc, content, start_line: start, end_line: end, total_lines: all.length }
    })
  }

  pages(scope: Scope): Promise<readonly DocRow[]> {
    return this.#getReader(scope).use(({ index }) => index.docs(scope))
  }

  facts(): Promise<IndexFacts> {
    return this.#reader.use(async ({ index }) => index.facts)
  }

  revision(): Promise<number> {
    return this.#storage.revision()
  }

  lastReport(): Promise<BuildReport | undefined> {
    return this.#storage.lastReport()
  }
}

async function requireScope(index: HelpIndex, { internal, section, source }: Scope): Promise<void> {
  if (section === undefined && source === undefined) return
  const docs = await index.docs({ internal })
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
  const docs = await index.docs(scope)
  if ('doc_id' in name) {
    const doc = docs.find(({ doc_id }) => doc_id === name.doc_id)
    if (doc === undefined) throw createNotFoundError(`document not found: ${name.doc_id}`, [])
    return doc
  }
  const { file_path, source } = name
  const path = file_path.replace(/^\.?\//, '')
  const found = docs.filter(
    (doc) =>
      (doc.file_path === path || `${doc.source}/${doc.file_path}` === path) &&
      (source === undefined || doc.source === source),
  )
  if (found.length === 1 && found[0] !== undefined) return found[0]
  if (found.length > 1)
    throw createNotFoundError(`several documents have this path; pass doc_id or source: ${path}`, found)
  const paths = new Map(docs.map((doc) => [`${doc.source}/${doc.file_path}`, doc]))
  const nearest = findNearestNames(path, [...paths.keys()]).flatMap((path) => paths.get(path) ?? [])
  throw createNotFoundError(`document not found: ${path}`, nearest)
}

function createNotFoundError(message: string, docs: readonly DocRow[]): CausewayError {
  const nearest = docs.map(({ doc_id, source, file_path }) => ({ doc_id, source, file_path }))
  return new HelpError('HELP_DOC_NOT_FOUND', message, { data: { nearest } })
}
