import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { PageName } from '../search/queries.ts'
import type { DocRow } from '../storage/types.ts'
import type { Help } from '../store.ts'
import {
  describeIndexing,
  hideInternal,
  hints,
  internalArgument,
  languageArgument,
  rows,
  toScope,
} from './shape.ts'

export function declareDocumentTools(app: Registrar<Help, object>): void {
  app.tool('get_help_document', {
    title: 'Get help document',
    about:
      'Return the unchanged text of a document with its headings, or a range of its lines. Use it to read one page or see its headings, and when a chunk of find_help_topics is incomplete.',
    searchHint: 'read whole page, full text of manual',
    hints,
    aliases: { full: ['MonadicHelpOpenAI__get_help_document'] },
    input: {
      doc_id: z.int().min(1).optional().describe('doc_id of a result. Pass either doc_id or file_path'),
      file_path: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe('file_path of a result, also as source/path'),
      source: z.string().max(200).optional().describe('Source, if several documents have this path'),
      from_line: z.int().min(1).default(1).describe('First line, from 1'),
      max_lines: z.int().min(1).max(20_000).default(1000).describe('Maximum number of lines to return'),
      include_internal: internalArgument,
    },
    output: {
      doc_id: z.int(),
      title: z.string(),
      content: z.string(),
      snippets_count: z.int().describe('Number of chunks of the document in the index'),
      start_line: z.int(),
      end_line: z.int(),
      total_lines: z.int(),
      next_line: z.int().optional().describe('from_line for the next call'),
    },
    example: { args: { file_path: 'pkg:fastify/docs/Reference/Hooks.md', max_lines: 40 } },
    async run({ doc_id, file_path, source, from_line, max_lines, include_internal }, { store }) {
      const scope = toScope(store, { include_internal })
      const { items, ...page } = await store.readPage(
        toPageName(doc_id, file_path, source),
        { from_line, max_lines },
        scope,
      )
      return {
        ...hideInternal(store, page),
        uri: `help://doc/${page.doc_id}`,
        snippets_count: items,
        ...(page.end_line < page.total_lines ? { next_line: page.end_line + 1 } : {}),
        ...describeIndexing(store),
      }
    },
  })

  app.tool('list_help_sections', {
    title: 'List help sections',
    about:
      'List the sections of the documentation with the titles of their documents. Use it to find out what is documented, or a section for search_help_by_section. For the headings of one document use get_help_document.',
    searchHint: 'chapters, table of contents of manual',
    hints,
    aliases: { full: ['MonadicHelpOpenAI__list_help_sections'] },
    input: {
      language: languageArgument,
      include_internal: internalArgument,
      limit: z.int().min(1).max(1000).default(200).describe('Maximum number of documents'),
      cursor: z.string().max(20).optional().describe('next_cursor of the previous page'),
    },
    output: { sections: rows(), next_cursor: z.string().nullable(), summary: z.string() },
    example: { args: { limit: 20 } },
    async run({ language, include_internal, limit, cursor }, { store }) {
      const docs = await store.listPages(toScope(store, { include_internal, language }))
      const from = cursor === undefined ? 0 : findCursor(docs, cursor)
      const page = docs.slice(from, from + limit)
      const isLast = from + limit >= docs.length
      const sections = new Set(docs.map(({ section }) => section))
      return {
        sections: groupBySection(store, docs, page),
        next_cursor: isLast ? null : String(page.at(-1)?.doc_id),
        ...describeIndexing(store),
        summary: `${formatCount(docs.length, 'document')} in ${formatCount(sections.size, 'section')}.${isLast ? '' : ` This page has ${page.length}; pass next_cursor for more.`}`,
      }
    },
  })
}

/** A cursor is the doc_id of a page's last document. Returns the index of the next document. */
function findCursor(docs: readonly DocRow[], cursor: string): number {
  const index = docs.findIndex(({ doc_id }) => String(doc_id) === cursor)
  if (index >= 0) return index + 1
  throw new CausewayError('INVALID_ARGUMENTS', `list_help_sections: not a next_cursor: ${cursor}`, {
    remedy: 'call list_help_sections without cursor, because the documentation may have changed',
  })
}

const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function toPageName(
  docId: number | undefined,
  path: string | undefined,
  source: string | undefined,
): PageName {
  if (docId !== undefined && path === undefined) return { doc_id: docId }
  if (path !== undefined && docId === undefined) return { file_path: path, source }
  throw new CausewayError('INVALID_ARGUMENTS', 'get_help_document: pass either doc_id or file_path', {
    data: { expected: ['doc_id', 'file_path'] },
  })
}

/** `count` includes documents of the section that are not on this page. */
function groupBySection(store: Help, docs: readonly DocRow[], page: readonly DocRow[]) {
  return [...new Set(page.map(({ section }) => section))].map((section) => ({
    section,
    count: docs.filter((doc) => doc.section === section).length,
    documents: page
      .filter((doc) => doc.section === section)
      .map(({ title, file_path, doc_id, source, is_internal }) =>
        hideInternal(store, { title, file_path, doc_id, source, is_internal }),
      ),
  }))
}
