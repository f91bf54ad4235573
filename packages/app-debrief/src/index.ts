import { type DataPart, defineApp } from '@causeway/app-kit'
import { PictureError } from '@causeway/picture'
import { declareCoast } from './chart/coast-route.ts'
import { DebriefError } from './errors.ts'
import { journalMigrations } from './journal/journal.ts'
import { declareLegacyRoutes } from './legacy/legacy-routes.ts'
import { declareEventRoutes } from './live/event-routes.ts'
import { declarePrompts } from './resources/prompts.ts'
import { declareResources } from './resources/resources.ts'
import type { DebriefSession } from './session.ts'
import { Debrief } from './store.ts'
import { declareCommandTools } from './tools/command-tools.ts'
import { declareFeatureTools } from './tools/feature-tools.ts'
import { declareMapTools } from './tools/map-tools.ts'
import { declarePlotTools } from './tools/plot-tools.ts'
import { declareStateTools } from './tools/state-tools.ts'
import { declareVaultTools } from './tools/vault-tools.ts'

/** Does not include plots, which are in the user's folders. */
const data: readonly DataPart[] = [
  { path: 'debrief-unsaved/', kind: 'files' },
  {
    path: 'debrief.db',
    kind: 'database',
    schema: journalMigrations.map(({ name }) => name),
    paths: ['plot.rescue'],
  },
]

/** Maritime plots (`*.plot.json`, GeoJSON) that a model and an analyst edit together. Degrees, WGS84, UTC. */
export default defineApp(
  {
    name: 'Debrief',
    errors: [DebriefError, PictureError],
    about: 'Read and change maritime plots: features, selection, time, viewport, commands, undo, charts.',
    instructions: [
      'Read and change maritime plots that an analyst views at the same time.',
      'To start: list_plots, then open_plot with set_active. To find features: get_features.',
      'To analyse tracks: set_selection, list_applicable_tools, then run_tool. To import a log file: run_tool with import_gpx, import_nmea, import_ais, import_rep or import_kml.',
      'To list the speeds of a track: run_tool with derive_speed_course; for a summary track_stats. No tool draws a diagram of them.',
      'To see the situation: render_map. To revert a change: undo.',
      'To resolve a conflict with another program: save_plot with on_conflict.',
    ].join('\n'),
    rootsSetting: 'CAUSEWAY_PLOT_ROOTS',
    service: 'debrief-state',
    data,
    open: (env) => Debrief.open(env),
    session: (): DebriefSession => ({}),
    close: (store) => store.end(),
    caches: (store) => store.caches(),
    health: (store) => store.health(),
    view: ({ data: { filename } }) =>
      typeof filename === 'string' && !/\p{Surrogate}/u.test(filename)
        ? `/debrief/plots/${encodeURIComponent(filename)}`
        : undefined,
  },
  (app) => {
    declarePlotTools(app)
    declareFeatureTools(app)
    declareStateTools(app)
    declareCommandTools(app)
    declareVaultTools(app)
    declareMapTools(app)
    declareResources(app)
    declarePrompts(app)
    declareEventRoutes(app)
    declareCoast(app)
    declareLegacyRoutes(app)
  },
)
