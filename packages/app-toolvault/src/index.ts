/** ToolVault: analysis of tracks and plots on the WGS84 ellipsoid; every tool answers one DebriefCommand. */
import { defineApp } from '@causeway/app-kit'
import { vaultTools } from './declare-tools.ts'
import { vaultResources } from './resources.ts'
import { vaultRoutes } from './routes.ts'
import { openVault } from './store.ts'
import { version } from './version.ts'

/** The app, for the server's list. */
export default defineApp(
  {
    name: 'ToolVault',
    about:
      'Analysis of maritime tracks: range, CPA, zones, speeds, jumps, imports; each answers a DebriefCommand.',
    rootsSetting: 'CAUSEWAY_PLOT_ROOTS',
    service: 'tool-vault',
    open: openVault,
    session: () => ({}),
    close: (store) => store.close(),
    caches: ({ memory }) => [
      { name: 'workers', costMs: 150, isInHeap: false, mostBytes: 1024 ** 3, ...memory },
    ],
    health: (store) => store.health(),
  },
  (app) => {
    vaultTools(app)
    vaultResources(app)
    vaultRoutes(app, version)
  },
)
