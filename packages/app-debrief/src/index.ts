/** Debrief: maritime plots (`*.plot.json`, GeoJSON) that a model and an analyst change together. Degrees, WGS84, UTC. */
import { defineApp } from '@causeway/app-kit'
import { debriefCaches } from './caches.ts'
import { debriefData } from './data.ts'
import { eventRoutes } from './event-routes.ts'
import { legacyRoutes } from './legacy-routes.ts'
import { plotPrompts } from './prompts.ts'
import { plotResources } from './resources.ts'
import type { DebriefSession } from './session.ts'
import { openDebrief } from './store.ts'
import { commandTools } from './tools/command-tools.ts'
import { featureTools } from './tools/feature-tools.ts'
import { mapTools } from './tools/map-tools.ts'
import { plotTools } from './tools/plot-tools.ts'
import { stateTools } from './tools/state-tools.ts'
import { analysisTools } from './tools/vault-tools.ts'

/** The app, for the server's list. */
export default defineApp(
  {
    name: 'Debrief',
    about: 'Read and change maritime plots: features, selection, time, view, commands, undo, a chart.',
    rootsSetting: 'CAUSEWAY_PLOT_ROOTS',
    service: 'debrief-state',
    data: debriefData,
    open: openDebrief,
    session: (): DebriefSession => ({}),
    close: (store) => store.end(),
    caches: debriefCaches,
    health: (store) => store.health(),
  },
  (app) => {
    plotTools(app)
    featureTools(app)
    stateTools(app)
    commandTools(app)
    analysisTools(app)
    mapTools(app)
    plotResources(app)
    plotPrompts(app)
    eventRoutes(app)
    legacyRoutes(app)
  },
)
