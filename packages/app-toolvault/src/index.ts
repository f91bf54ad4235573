import { defineApp } from '@causeway/app-kit'
import { declareTools } from './catalog/declare-tools.ts'
import { declareResources } from './catalog/resources.ts'
import { declareRoutes } from './catalog/routes.ts'
import { ToolVaultError } from './errors.ts'
import { Vault } from './store.ts'

/** Analyses tracks and plots on the WGS84 ellipsoid. Every tool returns one DebriefCommand. */
export default defineApp(
  {
    name: 'ToolVault',
    errors: [ToolVaultError],
    about:
      'Analyse maritime tracks: range, CPA, zones, speeds, jumps, imports. Each tool returns a DebriefCommand.',
    instructions: [
      'Analyse maritime tracks. A direct call needs its features as arguments and changes no plot: it returns a DebriefCommand.',
      'To analyse an open plot: list_applicable_tools, then run_tool of Debrief, which passes the selected features, time and viewport of the plot and applies the command.',
      'To find encounters: find_jumps, then cpa_tcpa. To check an area: zone_transits.',
      'To describe a track: track_stats. For its speed at every fix: derive_speed_course. To import a log: import_nmea, import_ais, import_rep, import_gpx or import_kml.',
    ].join('\n'),
    rootsSetting: 'CAUSEWAY_PLOT_ROOTS',
    service: 'tool-vault',
    open: (env) => new Vault(env),
    session: () => ({}),
    close: (store) => store.close(),
    caches: ({ memory }) => [
      { name: 'workers', costMs: 150, isInHeap: false, maxBytes: 1024 ** 3, ...memory },
    ],
    health: (store) => store.health(),
  },
  (app) => {
    declareTools(app)
    declareResources(app)
    declareRoutes(app)
  },
)
