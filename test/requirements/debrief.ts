import type { Requirements } from '../requirement.ts'

const upstream = 'original plot server'

/** Requirements of Debrief. */
export const debrief = {
  'debrief:tools': {
    origin: `${upstream}, MCP tool schema`,
    behaviour: 'lists every tool of the original under its own name on the own mount, in a constant order',
  },
  'debrief:commands': {
    origin: `${upstream}, DebriefCommand`,
    behaviour: 'each of the twelve commands and the two older names has its effect and its kind of result',
  },
  'debrief:commands:unknown': {
    origin: `${upstream}, DebriefCommand; defects of the original`,
    behaviour: 'rejects an unknown command or invalid payload with the allowed names, and changes nothing',
  },
  'debrief:composite': {
    origin: 'design, defects of the original: partial effects',
    behaviour:
      'a composite with a failing part changes nothing: no part, no revision, no byte; depth and number are limited',
  },
  'debrief:ids': {
    origin: 'defects of the original: ids compared in three ways',
    behaviour:
      'ids are equal as number and as text; updates never affect features without an id; ids are never repeated',
  },
  'debrief:selection:pruned': {
    origin: 'defects of the original',
    behaviour: 'removes deleted and replaced features from the selection; undo selects them again',
  },
  'debrief:validation': {
    origin: `${upstream}, feature validators`,
    behaviour: 'rejects invalid features with index, id and all reasons of each, and changes nothing',
  },
  'debrief:round-trip': {
    origin: 'design, byte-for-value preservation',
    behaviour: 'writes unchanged parts byte for byte: numbers, order, unknown members, indentation',
  },
  'debrief:metadata': {
    origin: `${upstream}, state persistence`,
    behaviour:
      'stores time and viewport as metadata features with a valid ring SW, SE, NE, NW, SW, and never lists them',
  },
  'debrief:names': {
    origin: `${upstream}, input sanitization; defects of the original`,
    behaviour:
      'rejects names that could lead out of the folders, never changes a name, and finds only the exact name',
  },
  'debrief:plots:many': {
    origin: `${upstream}, multi-plot scenario handling`,
    behaviour:
      'rejects a call without a name while several plots are open, regardless of the names that other clients passed',
    over: ['http', 'bridge'],
  },
  'debrief:plots:active': {
    origin: `${upstream}, active plot`,
    behaviour: 'a client can make a plot active; callers without a session cannot, because they share one',
  },
  'debrief:undo': {
    origin: `${upstream}, undo/redo; defects of the original`,
    behaviour:
      'undo restores every value in its order, redo applies it again, and a new edit discards redo steps',
  },
  'debrief:undo:states': {
    origin: 'defects of the original: sliders flush the history',
    behaviour: 'a hundred moves of the time slider add at most two entries and discard no edit of features',
  },
  'debrief:undo:restart': {
    origin: 'design, data',
    behaviour: 'undo steps survive a restart',
  },
  'debrief:save:soon': {
    origin: 'design, data',
    behaviour:
      'writes a change to the file soon, completely, by a rename, with the mode of the file, and leaves no other file',
  },
  'debrief:save:pause': {
    origin: 'design, data',
    behaviour:
      'saves a change CAUSEWAY_PLOT_SAVE_MS after the last one, and at most 2 s, or this pause if it is longer, after the first',
  },
  'debrief:save:killed': {
    origin: `${upstream}, rollback criteria: data loss`,
    behaviour:
      'if the server is killed, the file parses and equals a written revision, and no acknowledged change is lost',
  },
  'debrief:save:failed': {
    origin: 'design, data',
    behaviour:
      'a full disk or read-only folder leaves the file unchanged, is reported with a code, and loses no change, also after a restart',
  },
  'debrief:external:clean': {
    origin: `${upstream}, plot editor`,
    behaviour:
      'loads a change by another program immediately and notifies viewers; undo restores the previous state',
  },
  'debrief:external:conflict': {
    origin: 'design, data',
    behaviour:
      'never overwrites a change by another program without a request: overwrite, reload and save_as resolve it',
  },
  'debrief:external:invalid': {
    origin: 'design, data',
    behaviour:
      'an invalid or removed file leaves the last valid state available, and is not overwritten without a request',
  },
  'debrief:repeat': {
    origin: 'design, growing past one machine',
    behaviour: 'a repeated request returns the result of the first and changes nothing, also after a restart',
  },
  'debrief:fence': {
    origin: 'design, growing past one machine',
    behaviour: 'rejects a change for another revision and reports the current one',
  },
  'debrief:large': {
    origin: 'design, an app',
    behaviour:
      'a worker reads, holds and writes plots above 1 MB, also those that grow, and a lost worker loses nothing',
  },
  'debrief:large:open': {
    origin: `${upstream}, performance benchmarks`,
    behaviour: 'the server responds to other clients while it opens a plot of 45 MB',
  },
  'debrief:large:progress': {
    origin: 'design, an app: long operations',
    behaviour: 'opening a large plot reports progress, and is cancelled when all callers have cancelled',
  },
  'debrief:features:brief': {
    origin: `${upstream}, debrief_get_features`,
    behaviour: 'returns one row per feature by default; the sample of 17 features has less than 8 kB',
  },
  'debrief:time': {
    origin: `${upstream}, time state`,
    behaviour:
      'a time without offset is UTC in any time zone; rejects a current time outside its range; accepts {current, range}',
  },
  'debrief:events': {
    origin: 'design, an app; live events',
    behaviour:
      'a viewer receives a snapshot and each change once, resumes after its last id, and receives a snapshot if that is too old',
  },
  'debrief:events:slow': {
    origin: 'design, an app; live events',
    behaviour: 'a viewer that does not read receives a snapshot instead of an unlimited queue',
  },
  'debrief:chart:scale': {
    origin: 'analysts: false scale bars',
    behaviour: 'the scale bar of a chart is correct in the middle of the chart, or absent',
  },
  'debrief:chart:polar': {
    origin: 'analysts: charts beyond 80 degrees',
    behaviour: 'a chart of one hemisphere beyond 80 degrees has a polar projection',
  },
  'debrief:chart:times': {
    origin: 'original plot server, time formats and tick intervals',
    behaviour: 'charts have ticks and labels at round times along tracks, in a chosen style',
  },
  'debrief:map': {
    origin: 'design, an app',
    behaviour:
      'a chart shows land, tracks and selection as a picture, also across the antimeridian and near the pole',
  },
  'debrief:run-tool': {
    origin: `${upstream}, parameter injection`,
    behaviour:
      'a tool of ToolVault receives selection, track, viewport and time of the plot; arguments of the caller are never replaced; its command is one change',
  },
  'debrief:run-tool:fence': {
    origin: 'design, growing past one machine',
    behaviour: 'runs a tool again if the plot changes while it runs',
  },
  'debrief:run-tool:vault': {
    origin: `${upstream}, tool execution and command processing`,
    behaviour:
      'applies the command of a tool in one transaction: one revision, one undo step, one event, one audit entry; no feature passes through the client',
    over: ['http', 'bridge'],
  },
  'debrief:resources': {
    origin: `${upstream}, resources`,
    behaviour:
      'features, selection, time and viewport are resources, with and without a name, and changes are announced',
  },
  'debrief:prompts': {
    origin: `${upstream}, workflows`,
    behaviour: 'delete_selection and analyse_track refer to existing tools only',
  },
  'debrief:legacy:socket': {
    origin: `${upstream}, WebSocket command protocol`,
    behaviour:
      'the WebSocket sends a welcome, responds to each of the fourteen commands in order, echoes text that is not JSON, and has the changes of MCP clients',
  },
  'debrief:legacy:http': {
    origin: `${upstream}, POST /api/command`,
    behaviour: 'accepts the same commands by POST and responds with the status of the error',
  },
  'debrief:health': {
    origin: `${upstream}, health checks`,
    behaviour: 'the own port responds to /health in the format of the original',
  },
  'debrief:scenario:delete': {
    origin: `${upstream}, proof of concept, scenario 1`,
    behaviour: 'deletes the selected feature: file, selection, revision, undo to its place, audit',
    over: ['http', 'bridge'],
  },
  'debrief:scenario:none': {
    origin: `${upstream}, proof of concept, scenario 2`,
    behaviour: 'an empty selection does not fail and changes nothing, not a byte',
    over: ['http', 'bridge'],
  },
  'debrief:scenario:two': {
    origin: `${upstream}, proof of concept, scenario 3`,
    behaviour: 'deletes two selected features with one call and restores them with one undo',
    over: ['http', 'bridge'],
  },
  'debrief:scenario:plots': {
    origin: `${upstream}, proof of concept, scenario 4`,
    behaviour:
      'two open plots: lists them, changes the named one, and leaves the other unchanged byte for byte',
    over: ['http', 'bridge'],
  },
  'debrief:scenario:down': {
    origin: `${upstream}, proof of concept, scenario 5`,
    behaviour:
      'while the server is stopped, the bridge responds with a code after its wait budget, and the next call after a restart succeeds',
  },
  'debrief:python': {
    origin: `${upstream}, debrief_api`,
    behaviour: 'a Python script with the standard library only uses a plot with the calls of the original',
  },
  'debrief:fixtures': {
    origin: 'design, the tree',
    behaviour: 'the generator creates the committed plots, and their sidecars are correct',
  },
} as const satisfies Requirements
