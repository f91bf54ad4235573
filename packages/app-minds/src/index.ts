/** Minds: characters of a game that perceive, decide, remember and survive a restart. Times are game minutes. */
import { defineApp } from '@causeway/app-kit'
import { mindsData } from './data.ts'
import { errorBody } from './error-body.ts'
import { mindPrompts } from './prompts.ts'
import { mindResources } from './resources.ts'
import { openMinds } from './store.ts'
import { lifeTools } from './tools/life-tools.ts'
import { thoughtTools } from './tools/thought-tools.ts'

/** The app, for the server's list. */
export default defineApp(
  {
    name: 'Minds',
    about: 'Minds for characters of a game: observations in, one legal action out, with memories that last.',
    service: 'NPC Mind Server',
    errorBody,
    missingBody: ({ message }) => ({ error: message }),
    data: mindsData,
    open: openMinds,
    session: () => ({}),
    close: (minds) => minds.close(),
    caches: (minds) => minds.caches,
    health: (minds) => minds.health(),
  },
  (app) => {
    lifeTools(app)
    thoughtTools(app)
    mindResources(app)
    mindPrompts(app)
  },
)
