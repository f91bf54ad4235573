/** What can be asked of the documentation: the methods of the worker that answers. */
import { CausewayError } from '@causeway/protocol'
import { nearestNames } from '../domain/nearest-name.ts'
import type { BuildReport, DocRow, HelpIndex, HelpStorage, IndexFacts, Scope } from '../storage.ts'
import type { Reader } from './reader.ts'
import { type SearchAnswer, type SearchRequest, search } from './search.ts'

/** Names a page: by its number, or by its path with or without its source. */
export type PageName =
  | { readonly doc_id: number }
  | { readonly file_path: string; readonly source?: string | undefined }

/** A page with a range of its lines. */
export interface PageText extends DocRow {
  readonly content: string
  /** First and last line of `content`, from 1. */
  readonly start_line: number
  readonly end_line: number
  readonly total_lines: number
}

/** Which lines of a page are wanted. */
export interface Lines {
  readonly from_line: number
  readonly max_lines: number
}

/** The questions; each sees only pages of its scope. */
export interface Questions {
  /** Throws `HELP_SECTION_NOT_FOUND` where the scope names a section that no page has. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer>
  /** Throws `HELP_DOC_NOT_FOUND`. */
  page(name: PageName, lines: Lines, scope: Scope): Promise<PageText>
  pages(scope: Scope): Promise<readonly DocRow[]>
  facts(): Promise<IndexFacts>
  revision(): Promise<number>
  lastReport(): Promise<BuildReport | undefined>
}

/** Questions that are answered by the newest index. */
export function makeQuestions(storage: HelpStorage, reader: Reader): Questions {
  return {
    search: (request, signal) =>
      reader.use(async (state) => {
        await requireSection(state.index, request.scope)
        return search(state, request, signal)
      }),
    page: (name, lines, scope) =>
      reader.use(async ({ index }) => {
        const doc = await findPage(index, name, scope)
        const body = await index.body(doc.doc_id, scope)
        if (body === undefined) throw notFound(`no document ${doc.doc_id}`, [])
        const all = body.split('\n')
        const start = Math.min(Math.max(lines.from_line, 1), all.length)
        const end = Math.min(start + lines.max_lines - 1, all.length)
        const content = all.slice(start - 1, end).join('\n')
        return { ...doc, content, start_line: start, end_line: end, total_lines: all.length }
      }),
    pages: (scope) => reader.use(({ index }) => index.docs(scope)),
    facts: () => reader.use(async ({ index }) => index.facts),
    revision: () => storage.revision(),
    lastReport: () => storage.lastReport(),
  }
}

async function requireSection(index: HelpIndex, scope: Scope): Promise<void> {
  const { section } = scope
  if (section === undefined) return
  const sections = [...new Set((await index.docs({ internal: scope.internal })).map((doc) => doc.section))]
  if (sections.some((name) => name.toLowerCase() === section.toLowerCase())) return
  const nearest = nearestNames(section, sections)
  throw new CausewayError('HELP_SECTION_NOT_FOUND', `the documentation has no section: ${section}`, {
    data: { section, nearest },
  })
}

async function findPage(index: HelpIndex, name: PageName, scope: Scope): Promise<DocRow> {
  // Asked of the scope, so that a page outside it is told as one that does not exist.
  const docs = await index.docs(scope)
  if ('doc_id' in name) {
    const doc = docs.find(({ doc_id }) => doc_id === name.doc_id)
    if (doc === undefined) throw notFound(`no document has this id: ${name.doc_id}`, [])
    return doc
  }
  const { file_path, source } = name
  const asked = file_path.replace(/^\.?\//, '')
  const found = docs.filter(
    (doc) =>
      (doc.file_path === asked || `${doc.source}/${doc.file_path}` === asked) &&
      (source === undefined || doc.source === source),
  )
  if (found.length === 1 && found[0] !== undefined) return found[0]
  if (found.length > 1)
    throw notFound(`several documents have this path, give doc_id or source: ${asked}`, found)
  const paths = new Map(docs.map((doc) => [`${doc.source}/${doc.file_path}`, doc]))
  const nearest = nearestNames(asked, [...paths.keys()]).flatMap((path) => paths.get(path) ?? [])
  throw notFound(`no document has this path: ${asked}`, nearest)
}

function notFound(message: string, docs: readonly DocRow[]): CausewayError {
  const nearest = docs.map(({ doc_id, source, file_path }) => ({ doc_id, source, file_path }))
  return new CausewayError('HELP_DOC_NOT_FOUND', message, { data: { nearest } })
}
