/** Replay uses SI units, a world frame with z up, and recorded frame ids (from 1). */
import { defineApp } from '@causeway/app-kit'
import { PictureError } from '@causeway/picture'
import { RecordingError } from '@causeway/recording'
import { findViewerPage } from './domain/viewer-page.ts'
import { ReplayError } from './errors.ts'
import { registerPrompts } from './prompts.ts'
import { registerResources } from './resources.ts'
import { registerRecorderRoutes } from './routes.ts'
import type { ReplaySession } from './session/session.ts'
import { openReplayStore, replayData } from './store/store.ts'
import { baselineTools } from './tools/baseline-tools.ts'
import { checkTools } from './tools/check-tools.ts'
import { compareTools } from './tools/compare-tools.ts'
import { contactTools } from './tools/contact-tools.ts'
import { diagnosisTools, eventTools } from './tools/diagnosis-tools.ts'
import { energyTools } from './tools/energy-tools.ts'
import { frameTools } from './tools/frame-tools.ts'
import { lakeTools } from './tools/lake-tools.ts'
import { pictureTools } from './tools/picture-tools.ts'
import { queryTools } from './tools/query-tools.ts'
import { recordingTools } from './tools/recording-tools.ts'
import { runTools } from './tools/run-tools.ts'
import { seriesTools } from './tools/series-tools.ts'
import { registerViewerRoutes } from './viewer-routes.ts'

const instructions = `Replay answers questions about recordings of rigid body simulations. SI units, z up, frame ids from 1. Every answer has a \`summary\`.
To start: list_recordings, then load_recording; later calls use the loaded recording unless they pass \`recording\`.
To find out what is wrong: diagnose, then explain_frame for the first frame of its first finding, then its evidence_calls.
To find out why a body moves: diagnose, then explain_frame, then check_friction_cone or check_resting_contact.
To find out where energy comes from: find_energy_anomalies, then explain_frame.
To follow a quantity: get_series or plot; to find frames by a condition: search_frames; to see the course of events: timeline.
To compare runs before and after a change: compare_recordings, then diagnose for both.
To set limits for future runs: save_baseline for a good run, then assert_invariants for each later run.
To find runs by date, scenario or fault: list_runs, then diagnose for one of them. For their frames: query_runs.
To find the commit that made runs worse: find_regression, then list_runs.
For any other question: query_sql.`

const tools = [
  ...recordingTools,
  ...frameTools,
  ...energyTools,
  ...contactTools,
  ...checkTools,
  ...diagnosisTools,
  ...eventTools,
  ...seriesTools,
  ...compareTools,
  ...pictureTools,
  ...queryTools,
  ...baselineTools,
  ...runTools,
  ...lakeTools,
]

export default defineApp(
  {
    name: 'Replay',
    errors: [ReplayError, RecordingError, PictureError],
    about: 'Ask a physics recording what happened: frames, energy, contacts, solver.',
    instructions,
    rootsSetting: 'CAUSEWAY_RECORDING_ROOTS',
    data: replayData,
    open: openReplayStore,
    session: (): ReplaySession => ({}),
    close: (store) => store.close(),
    caches: (store) => store.caches,
    health: (store) => store.health(),
    view: findViewerPage,
  },
  (app) => {
    for (const register of tools) register(app)
    registerPrompts(app)
    registerRecorderRoutes(app)
    registerViewerRoutes(app)
    registerResources(app)
  },
)
