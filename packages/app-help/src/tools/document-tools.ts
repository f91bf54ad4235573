/** Whole documents and what there is. */
import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { PageName } from '../search/questions.ts'
import type { DocRow } from '../storage.ts'
import type { Help } from '../store.ts'
import { hints, indexing, internalArgument, languageArgument, rows, scopeOf, told } from './shape.ts'

/** Declares get_help_document and list_help_sections. */
export function documentTools(app: Registrar<Help, object>): void {
  app.tool('get_help_document', {
    about: 'The text of a document, whole or a range of its lines, as it is in its file.',
    hints,
    aliases: { full: ['MonadicHelpOpenAI__get_help_document'] },
    input: {
      doc_id: z.int().min(1).optional().describe('of a result; this or file_path'),
      file_path: z.string().min(1).max(1000).optional().describe('of a result, also as source/path'),
      source: z.string().max(200).optional().describe('where several documents have this path'),
      from_line: z.int().min(1).default(1).describe('first line, from 1'),
      max_lines: z.int().min(1).max(20_000).default(1000).describe('lines at most'),
      include_internal: internalArgument,
    },
    output: {
      doc_id: z.int(),
      title: z.string(),
      content: z.string(),
      snippets_count: z.int().describe('pieces of the document in the index'),
      start_line: z.int(),
      end_line: z.int(),
      total_lines: z.int(),
      next_line: z.int().optional().describe('from_line of the next call'),
    },
    example: { args: { file_path: 'pkg:fastify/docs/Reference/Hooks.md', max_lines: 40 } },
    async run({ doc_id, file_path, source, from_line, max_lines, include_internal }, { store }) {
      const scope = scopeOf(store, { include_internal })
      const { items, ...page } = await store.page(
        nameOf(doc_id, file_path, source),
        { from_line, max_lines },
        scope,
      )
      return {
        ...told(store, page),
        uri: `help://doc/${page.doc_id}`,
        snippets_count: items,
        ...(page.end_line < page.total_lines ? { next_line: page.end_line + 1 } : {}),
        ...indexing(store),
      }
    },
  })

  app.tool('list_help_sections', {
    about: 'Sections of the documentation with their documents.',
    hints,
    aliases: { full: ['MonadicHelpOpenAI__list_help_sections'] },
    input: { language: languageArgument, include_internal: internalArgument },
    output: { sections: rows(), summary: z.string() },
    example: { args: {} },
    async run({ language, include_internal }, { store }) {
      const docs = await store.pages(scopeOf(store, { include_internal, language }))
      const sections = bySection(store, docs)
      return {
        sections,
        ...indexing(store),
        summary: `${docs.length} documents in ${sections.length} sections.`,
      }
    },
  })
}

function nameOf(docId: number | undefined, path: string | undefined, source: string | undefined): PageName {
  if (docId !== undefined && path === undefined) return { doc_id: docId }
  if (path !== undefined && docId === undefined) return { file_path: path, source }
  throw new CausewayError('INVALID_ARGUMENTS', 'get_help_document: give one of doc_id and file_path', {
    data: { expected: ['doc_id', 'file_path'] },
  })
}

function bySection(store: Help, docs: readonly DocRow[]) {
  return [...new Set(docs.map(({ section }) => section))].map((section) => {
    const members = docs.filter((doc) => doc.section === section)
    return {
      section,
      count: members.length,
      documents: members.map(({ title, file_path, doc_id, source, is_internal }) =>
        told(store, { title, file_path, doc_id, source, is_internal }),
      ),
    }
  })
}
