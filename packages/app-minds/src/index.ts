import { defineApp } from '@causeway/app-kit'
import { EmbedError } from '@causeway/embed'
import { MindsError } from './errors.ts'
import { Minds } from './mind/minds.ts'
import { migrations } from './store/schema.ts'
import { declareLifecycleTools } from './tools/lifecycle-tools.ts'
import { declareMindPrompts } from './tools/prompts.ts'
import { declareMindResources } from './tools/resources.ts'
import { declareMindRoutes } from './tools/routes.ts'
import { declareThoughtTools } from './tools/thought-tools.ts'

export default defineApp(
  {
    name: 'Minds',
    errors: [MindsError, EmbedError],
    about: 'Minds for game characters: observations in, one legal action out, with persistent memories.',
    instructions: [
      'To run a character: create_mind once, then decide_action with the observation of each cycle, and consolidate_memories when the character sleeps.',
      'To give a character a fact: a message of another speaker in observation.conversations of decide_action, which becomes a memory; at its creation initial_long_term_memories of create_mind.',
      'To find out what a character knows: recall_memories.',
      'To find out why it acted: explain_decision.',
      'For save slots: export_mind and import_mind.',
      'When it leaves the game: cleanup_mind, which keeps its memories; create_mind resumes it.',
    ].join('\n'),
    service: 'NPC Mind Server',
    errorBody({ code, message, data: { request_id, consolidated_count }, retryable }) {
      return {
        status: 'error',
        action: null,
        error_message: message,
        code,
        ...(request_id === undefined ? {} : { request_id }),
        protocol_version: 1,
        retryable,
        ...(consolidated_count === undefined ? {} : { consolidated_count }),
      }
    },
    missingBody: ({ message }) => ({ error: message }),
    data: [{ path: 'minds.db', kind: 'database', schema: migrations.map(({ name }) => name) }],
    open: async (env) => new Minds(env),
    session: () => ({}),
    close: (minds) => minds.close(),
    caches: (minds) => minds.caches(),
    health: (minds) => minds.health(),
  },
  (app) => {
    declareLifecycleTools(app)
    declareThoughtTools(app)
    declareMindResources(app)
    declareMindPrompts(app)
    declareMindRoutes(app)
  },
)
