/** Help: documentation search that works offline, with the place of everything it quotes. */
import { defineApp } from '@causeway/app-kit'
import { helpData } from './data.ts'
import { helpPrompts } from './prompts.ts'
import { helpResources } from './resources.ts'
import { openHelp } from './store.ts'
import { documentTools } from './tools/document-tools.ts'
import { searchTools } from './tools/search-tools.ts'

/** The app, for the server's list. */
export default defineApp(
  {
    name: 'Help',
    about: 'Search documentation by words and meaning, offline: of Causeway, of packages, of your project.',
    data: helpData,
    open: openHelp,
    session: () => ({}),
    close: (store) => store.close(),
    caches: ({ memory }) => [
      { name: 'search', costMs: 400, isInHeap: false, mostBytes: 2 * 1024 ** 3, ...memory },
    ],
    health: (store) => store.health(),
  },
  (app) => {
    searchTools(app)
    documentTools(app)
    helpResources(app)
    helpPrompts(app)
  },
)
