/** Documents as resources, and the list of all public ones. */
import type { Registrar, ToolContext } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { llmsText } from './domain/llms-text.ts'
import type { Scope } from './storage.ts'
import type { Help } from './store.ts'

/** A resource has no arguments, so nobody asks for internal pages by one. */
const publicPages: Scope = { internal: false }
const allLines = { from_line: 1, max_lines: Number.MAX_SAFE_INTEGER }
/** Documents that a list of resources holds at most; all of them are in llms.txt. */
const mostListed = 500

/** Declares help://doc/{doc_id}, help://section/{section} and help://llms.txt. */
export function helpResources(app: Registrar<Help, object>): void {
  app.resource('help://doc/{doc_id}', {
    name: 'document',
    about: 'The text of a document.',
    mimeType: 'text/markdown',
    async list({ store }) {
      const docs = await listed(store)
      return docs.slice(0, mostListed).map(({ doc_id, title, source, file_path }) => ({
        uri: `help://doc/${doc_id}`,
        name: title,
        description: `${source}/${file_path}`,
      }))
    },
    complete: {
      doc_id: async (_chosen, { store }) => (await listed(store)).map(({ doc_id }) => String(doc_id)),
    },
    async read({ doc_id = '' }, { store }) {
      if (!/^\d{1,15}$/.test(doc_id)) throw missing(`no such document: ${doc_id}`)
      return { text: (await store.page({ doc_id: Number(doc_id) }, allLines, publicPages)).content }
    },
  })

  app.resource('help://section/{section}', {
    name: 'section',
    about: 'The documents of a section.',
    complete: {
      section: async (_chosen, { store }) => [...new Set((await listed(store)).map((doc) => doc.section))],
    },
    async read({ section = '' }, { store }) {
      const documents = (await store.pages({ ...publicPages, section })).map(
        ({ doc_id, title, source, file_path }) => ({ doc_id, title, source, file_path }),
      )
      if (documents.length === 0) throw missing(`no such section: ${section}`)
      return { json: { section, documents } }
    },
  })

  app.resource('help://llms.txt', {
    name: 'llms.txt',
    about: 'Every public document by section, as llms.txt.',
    mimeType: 'text/plain',
    read: async (_variables, ctx) => ({ text: await list(ctx) }),
  })
}

async function list({ store }: ToolContext<Help, object>): Promise<string> {
  const pages = (await store.pages(publicPages)).map((doc) => ({
    ...doc,
    file_path: `${doc.source}/${doc.file_path}`,
  }))
  return llmsText('Documentation', 'What the Help app of this Causeway server answers from.', pages)
}

/** A list of resources is asked for at every start of a client: it waits for nothing. */
async function listed(store: Help) {
  if (!(await store.isBuilt())) return []
  return store.pages(publicPages)
}

const missing = (message: string): CausewayError => new CausewayError('RESOURCE_NOT_FOUND', message)
