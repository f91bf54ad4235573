import { defineApp } from '@causeway/app-kit'
import { TrmError } from './errors.ts'
import { declarePrompts } from './prompts.ts'
import { declareResources } from './resources.ts'
import { declareRoutes } from './routes.ts'
import { openCritic } from './session/open-critic.ts'
import { dataParts } from './store/schema.ts'
import { declareAdviceTools } from './tools/advice-tools.ts'
import { declareSubmitTool, declareValidateTool } from './tools/candidate-tools.ts'
import { declareFileTools } from './tools/file-tools.ts'
import { declareHistoryTools, declareUndoTool } from './tools/history-tools.ts'
import { declareStartTool } from './tools/start-tool.ts'
import { declareEndTool, declareHaltTool, declareStateTool } from './tools/state-tools.ts'
import type { ClientState } from './tools/tool-context.ts'

export default defineApp(
  {
    name: 'Trm',
    errors: [TrmError],
    about: 'Refine code step by step: apply candidates, run the tests, compute a score, and undo what fails.',
    instructions:
      'Five tools suffice: start, submit, undo, state, end. ' +
      'To make failing tests pass: start with repo and test; edit files with your own editor and submit without a candidate, or submit a candidate; ' +
      'read summary and feedback; undo what made it worse; repeat until shouldHalt; then end with apply best. ' +
      'To get the result of a long evaluation: state with wait. For all fields: details. ' +
      'Without an editor: lines and read show code, validate checks a diff. ' +
      'To discard everything: reset. To return to a good state: save before, restore later.',
    rootsSetting: 'CAUSEWAY_TRM_ROOTS',
    data: dataParts,
    open: openCritic,
    session: (): ClientState => ({}),
    close: (critic) => critic.close(),
    caches: ({ engine }) => [
      { name: 'engine', costMs: 300, isInHeap: false, maxBytes: 512 * 1024 ** 2, ...engine.memory },
    ],
    health: (critic) => ({
      enabled: critic.policy.roots.folders().length > 0,
      running: critic.running.size,
      waiting: critic.queue.waiting,
    }),
  },
  (app) => {
    declareStartTool(app)
    declareSubmitTool(app)
    declareUndoTool(app)
    declareStateTool(app)
    declareEndTool(app)
    declareValidateTool(app)
    declareFileTools(app)
    declareHaltTool(app)
    declareHistoryTools(app)
    declareAdviceTools(app)
    declareResources(app)
    declareRoutes(app)
    declarePrompts(app)
  },
)
