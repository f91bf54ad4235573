import { defineApp } from '@causeway/app-kit'
import { EmbedError } from '@causeway/embed'
import { HelpError } from './errors.ts'
import { helpMigrations } from './storage/sqlite/sqlite-storage.ts'
import { Help } from './store.ts'
import { declareDocumentTools } from './tools/document-tools.ts'
import { declareHelpPrompts } from './tools/prompts.ts'
import { declareHelpResources } from './tools/resources.ts'
import { declareSearchTools } from './tools/search-tools.ts'

export default defineApp(
  {
    name: 'Help',
    errors: [HelpError, EmbedError],
    about: 'Search documentation by words and meaning, offline: of Causeway, of packages, of your project.',
    instructions: [
      'To answer a question from the documentation: find_help_topics, then get_help_document if a chunk is incomplete.',
      'To read one page or see its headings: get_help_document.',
      'To search only a part: list_help_sections, then search_help_by_section.',
    ].join('\n'),
    data: [
      { path: 'help/*.db', kind: 'database' },
      {
        path: 'help.db',
        kind: 'database',
        schema: helpMigrations.map(({ name }) => name),
        // A restored lease belongs to a build that is not running.
        restored: 'DELETE FROM lease',
      },
    ],
    open: async (env) => new Help(env),
    session: () => ({}),
    close: (store) => store.close(),
    caches: ({ memory }) => [
      { name: 'search', costMs: 400, isInHeap: false, maxBytes: 2 * 1024 ** 3, ...memory },
    ],
    health: (store) => store.health(),
  },
  (app) => {
    declareSearchTools(app)
    declareDocumentTools(app)
    declareHelpResources(app)
    declareHelpPrompts(app)
  },
)
