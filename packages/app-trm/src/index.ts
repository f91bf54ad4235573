/** Trm: a critic that applies candidates, runs a project's own checks, scores, and says when to stop. */
import { defineApp } from '@causeway/app-kit'
import { openCritic } from './critic.ts'
import { trmData } from './data.ts'
import { trmPrompts } from './prompts.ts'
import { trmResources } from './resources.ts'
import { adviceTools } from './tools/advice-tools.ts'
import { candidateTools } from './tools/candidate-tools.ts'
import { fileTools } from './tools/file-tools.ts'
import { historyTools } from './tools/history-tools.ts'
import { reviewTool } from './tools/review-tool.ts'
import type { TrmSession } from './tools/shape.ts'
import { startTool } from './tools/start-tool.ts'
import { stateTools } from './tools/state-tools.ts'

/** The app, for the server's list. */
export default defineApp(
  {
    name: 'Trm',
    about: 'Refine code step by step: candidates are applied, tested, scored, and taken back when they fail.',
    rootsSetting: 'CAUSEWAY_TRM_ROOTS',
    data: trmData,
    open: openCritic,
    session: (): TrmSession => ({}),
    close: (critic) => critic.close(),
    caches: ({ engine, snapshots }) => [
      { name: 'engine', costMs: 300, isInHeap: false, mostBytes: 512 * 1024 ** 2, ...engine.memory },
      { name: 'snapshot_lists', costMs: 20, isInHeap: true, mostBytes: 64 * 1024 ** 2, ...snapshots.memory },
    ],
    health: (critic) => ({
      enabled: critic.roots.folders().length > 0,
      running: critic.running.size,
      waiting: critic.slots.waiting,
    }),
  },
  (app) => {
    startTool(app)
    candidateTools(app)
    fileTools(app)
    stateTools(app)
    historyTools(app)
    adviceTools(app)
    reviewTool(app)
    trmResources(app)
    trmPrompts(app)
  },
)
