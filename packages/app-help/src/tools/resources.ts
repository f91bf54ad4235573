import type { Registrar, ToolContext } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { formatLlmsText } from '../domain/llms-text.ts'
import type { Scope } from '../storage/types.ts'
import type { Help } from '../store.ts'

/** Resources have no arguments, so internal pages cannot be requested. */
const publicPages: Scope = { internal: false }
const allLines = { from_line: 1, max_lines: Number.MAX_SAFE_INTEGER }
/** Maximum pages in a list. llms.txt lists all. */
const maxListed = 500

export function declareHelpResources(app: Registrar<Help, object>): void {
  app.resource('help://doc/{doc_id}', {
    name: 'Document',
    about: 'The text of a document.',
    mimeType: 'text/markdown',
    async list({ store }) {
      const docs = await listPages(store)
      return docs.slice(0, maxListed).map(({ doc_id, title, source, file_path }) => ({
        uri: `help://doc/${doc_id}`,
        name: title,
        description: `${source}/${file_path}`,
      }))
    },
    complete: {
      doc_id: async (_chosen, { store }) => (await listPages(store)).map(({ doc_id }) => String(doc_id)),
    },
    async read({ doc_id = '' }, { store }) {
      if (!/^\d{1,15}$/.test(doc_id)) throw createMissingError(`document not found: ${doc_id}`)
      return { text: (await store.readPage({ doc_id: Number(doc_id) }, allLines, publicPages)).content }
    },
  })

  app.resource('help://section/{section}', {
    name: 'Section',
    about: 'The documents of a section.',
    complete: {
      section: async (_chosen, { store }) => [...new Set((await listPages(store)).map((doc) => doc.section))],
    },
    async read({ section = '' }, { store }) {
      const documents = (await store.listPages({ ...publicPages, section })).map(
        ({ doc_id, title, source, file_path }) => ({ doc_id, title, source, file_path }),
      )
      if (documents.length === 0) throw createMissingError(`section not found: ${section}`)
      return { json: { section, documents } }
    },
  })

  app.resource('help://llms.txt', {
    name: 'llms.txt',
    about: 'All public documents by section, as llms.txt.',
    mimeType: 'text/plain',
    read: async (_variables, ctx) => ({ text: await list(ctx) }),
  })
}

async function list({ store }: ToolContext<Help, object>): Promise<string> {
  const pages = (await store.listPages(publicPages)).map((doc) => ({
    ...doc,
    file_path: `${doc.source}/${doc.file_path}`,
  }))
  return formatLlmsText(
    'Documentation',
    'The documentation that the Help app of this Causeway server searches.',
    pages,
  )
}

/** Does not wait for a build, because clients list resources each time they start. */
async function listPages(store: Help) {
  if (!(await store.isBuilt())) return []
  return store.listPages(publicPages)
}

const createMissingError = (message: string): CausewayError =>
  new CausewayError('RESOURCE_NOT_FOUND', message)
