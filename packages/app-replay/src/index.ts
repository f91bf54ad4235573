/** Replay: questions about a physics recording. SI units, world frame with z up, frame ids as recorded (from 1). */
import { defineApp } from '@causeway/app-kit'
import { replayCaches } from './caches.ts'
import { replayData } from './data.ts'
import { replayPrompts } from './prompts.ts'
import { recorderRoutes } from './recorder-routes.ts'
import { recordingResources } from './resources.ts'
import type { ReplaySession } from './session.ts'
import { openReplay } from './store.ts'
import { baselineTools } from './tools/baseline-tools.ts'
import { checkTools } from './tools/check-tools.ts'
import { compareTools } from './tools/compare-tools.ts'
import { contactTools } from './tools/contact-tools.ts'
import { diagnoseTools } from './tools/diagnose-tools.ts'
import { energyTools } from './tools/energy-tools.ts'
import { frameTools } from './tools/frame-tools.ts'
import { lawTools } from './tools/law-tools.ts'
import { pictureTools } from './tools/picture-tools.ts'
import { queryTools } from './tools/query-tools.ts'
import { recorderTools } from './tools/recorder-tools.ts'
import { recordingTools } from './tools/recording-tools.ts'
import { seriesTools } from './tools/series-tools.ts'
import { solverTools } from './tools/solver-tools.ts'
import { storyTools } from './tools/story-tools.ts'

/** The app, for the server's list. */
export default defineApp(
  {
    name: 'Replay',
    about: 'Ask a physics recording what happened: frames, energy, contacts, solver.',
    rootsSetting: 'CAUSEWAY_RECORDING_ROOTS',
    data: replayData,
    open: openReplay,
    session: (): ReplaySession => ({}),
    close: (store) => store.close(),
    caches: replayCaches,
    health: async (store) => ({ ...store.health(), ...(await store.recorder.health()) }),
  },
  (app) => {
    recordingTools(app)
    frameTools(app)
    energyTools(app)
    contactTools(app)
    solverTools(app)
    checkTools(app)
    diagnoseTools(app)
    lawTools(app)
    storyTools(app)
    queryTools(app)
    replayPrompts(app)
    seriesTools(app)
    compareTools(app)
    baselineTools(app)
    pictureTools(app)
    recorderTools(app)
    recorderRoutes(app)
    recordingResources(app)
  },
)
