import type { Requirements } from '../requirement.ts'

const upstream = 'original plot server'

/** Debrief: maritime plots. */
export const debrief = {
  'debrief:tools': {
    origin: `${upstream}, MCP tool schema`,
    behaviour:
      'every tool of the original is listed on the own mount under its own name, in the same order each time',
  },
  'debrief:commands': {
    origin: `${upstream}, DebriefCommand`,
    behaviour: 'each of the twelve commands, and the two older names, has its effect and its kind of result',
  },
  'debrief:commands:unknown': {
    origin: `${upstream}, DebriefCommand; defects of the original`,
    behaviour:
      'an unknown command or a payload that does not fit is refused with the allowed names, and changes nothing',
  },
  'debrief:composite': {
    origin: 'design, defects of the original: partial effects',
    behaviour:
      'a composite of which one part fails changes nothing: no part, no revision, no byte; depth and number are bounded',
  },
  'debrief:ids': {
    origin: 'defects of the original: ids compared in three ways',
    behaviour:
      'an id is the same as number and as text; no update touches a feature without id; a given id is never doubled',
  },
  'debrief:selection:pruned': {
    origin: 'defects of the original',
    behaviour: 'what is deleted or replaced is no longer selected, and undo selects it again',
  },
  'debrief:validation': {
    origin: `${upstream}, feature validators`,
    behaviour:
      'features that do not fit are refused with index, id and every reason of each, and nothing is changed',
  },
  'debrief:round-trip': {
    origin: 'design, byte-for-value preservation',
    behaviour:
      'what is not changed is written back byte for byte: numbers, order, unknown members, indentation',
  },
  'debrief:metadata': {
    origin: `${upstream}, state persistence`,
    behaviour:
      'time and view live in the file as metadata features, are never listed, and get a valid ring SW, SE, NE, NW, SW',
  },
  'debrief:names': {
    origin: `${upstream}, input sanitization; defects of the original`,
    behaviour:
      'a name that could lead out of the folders is refused, never rewritten; only the exact name is found',
  },
  'debrief:plots:many': {
    origin: `${upstream}, multi-plot scenario handling`,
    behaviour:
      'a call without a name is refused while several plots are open, whatever another client named before',
    over: ['http', 'bridge'],
  },
  'debrief:plots:active': {
    origin: `${upstream}, active plot`,
    behaviour: 'a client may make a plot its own; callers without a session cannot, since they share one',
  },
  'debrief:undo': {
    origin: `${upstream}, undo/redo; defects of the original`,
    behaviour: 'undo brings back every value in its order, redo does it again, and a new edit ends redo',
  },
  'debrief:undo:states': {
    origin: 'defects of the original: sliders flush the history',
    behaviour: 'a hundred moves of the slider cost two entries at most and push no feature edit out',
  },
  'debrief:undo:restart': {
    origin: 'design, data',
    behaviour: 'what can be undone survives a restart',
  },
  'debrief:save:soon': {
    origin: 'design, data',
    behaviour:
      'a change is in the file soon, whole, by a rename, with the mode of the file and nothing beside it',
  },
  'debrief:save:pause': {
    origin: 'design, data',
    behaviour:
      'a change is saved after CAUSEWAY_PLOT_SAVE_MS without another, and 2 s after the first at the latest, or that long where it is longer',
  },
  'debrief:save:killed': {
    origin: `${upstream}, rollback criteria: data loss`,
    behaviour:
      'however often the server is killed, the file parses and is one of the written revisions, and no answered change is lost',
  },
  'debrief:save:failed': {
    origin: 'design, data',
    behaviour:
      'a full disk or a read-only folder leaves the file as it was, is told with a code, and loses no change, not even by a restart',
  },
  'debrief:external:clean': {
    origin: `${upstream}, plot editor`,
    behaviour: 'an edit of another program is read at once and told to views; undo brings the old state back',
  },
  'debrief:external:conflict': {
    origin: 'design, data',
    behaviour:
      'an edit of another program is never overwritten unasked: overwrite, reload and save_as settle it',
  },
  'debrief:external:invalid': {
    origin: 'design, data',
    behaviour:
      'a file that became unreadable or vanished leaves the last good state in service, and saving waits for a decision',
  },
  'debrief:repeat': {
    origin: 'design, growing past one machine',
    behaviour: 'a repeated request gets the answer of the first and changes nothing, also after a restart',
  },
  'debrief:fence': {
    origin: 'design, growing past one machine',
    behaviour: 'a change for another revision is refused, and says which one the plot is at',
  },
  'debrief:large': {
    origin: 'design, an app',
    behaviour:
      'a plot above 1 MB is read, kept and written by a worker, also one that grows beyond, and a lost worker costs nothing',
  },
  'debrief:large:open': {
    origin: `${upstream}, performance benchmarks`,
    behaviour: 'while a plot of 45 MB is opened the server goes on answering others',
  },
  'debrief:large:progress': {
    origin: 'design, an app: everything long',
    behaviour:
      'opening a large plot tells how far it is; it stops when nobody waits for it any more, and not before',
  },
  'debrief:features:brief': {
    origin: `${upstream}, debrief_get_features`,
    behaviour:
      'features are a line each unless asked for whole; the sample of 17 features costs less than 8 kB',
  },
  'debrief:time': {
    origin: `${upstream}, time state`,
    behaviour:
      'a time without offset is UTC wherever the server runs; a current time outside its range is refused; {current, range} is read',
  },
  'debrief:events': {
    origin: 'design, an app; live events',
    behaviour:
      'a viewer gets a snapshot and then each change once, goes on after its last id, and begins anew where that is too long ago',
  },
  'debrief:events:slow': {
    origin: 'design, an app; live events',
    behaviour: 'a viewer that does not read gets a snapshot instead of a queue without end',
  },
  'debrief:map': {
    origin: 'design, an app',
    behaviour:
      'a chart shows land, tracks and selection as a picture, over the antimeridian and near the pole too',
  },
  'debrief:run-tool': {
    origin: `${upstream}, parameter injection`,
    behaviour:
      'a vault tool runs on selection, track, view and time of the plot; what the caller gives is never replaced; its command is one change',
  },
  'debrief:run-tool:fence': {
    origin: 'design, growing past one machine',
    behaviour: 'a plot that changes while a tool runs makes it run again on what is there now',
  },
  'debrief:run-tool:vault': {
    origin: `${upstream}, tool execution and command processing`,
    behaviour:
      'a tool of ToolVault runs on the plot and its command is applied in one transaction: one revision, one undo, one event, one entry in the audit, and no feature passes through the client',
    over: ['http', 'bridge'],
  },
  'debrief:resources': {
    origin: `${upstream}, resources`,
    behaviour:
      'features, selection, time and viewport are resources, with and without a name, and changes are announced',
  },
  'debrief:prompts': {
    origin: `${upstream}, workflows`,
    behaviour: 'delete_selection and analyse_track lead a model through the tools that exist',
  },
  'debrief:legacy:socket': {
    origin: `${upstream}, WebSocket command protocol`,
    behaviour:
      'the WebSocket greets, answers each of the fourteen commands in order, echoes what is no JSON, and sees what MCP clients change',
  },
  'debrief:legacy:http': {
    origin: `${upstream}, POST /api/command`,
    behaviour: 'the same commands by POST, with the status of the error',
  },
  'debrief:health': {
    origin: `${upstream}, health checks`,
    behaviour: 'the own port answers /health in the form of the original',
  },
  'debrief:scenario:delete': {
    origin: `${upstream}, proof of concept, scenario 1`,
    behaviour: 'the selected feature is deleted: file, selection, revision, undo to its place, audit',
    over: ['http', 'bridge'],
  },
  'debrief:scenario:none': {
    origin: `${upstream}, proof of concept, scenario 2`,
    behaviour: 'nothing selected is no error and changes nothing, not a byte',
    over: ['http', 'bridge'],
  },
  'debrief:scenario:two': {
    origin: `${upstream}, proof of concept, scenario 3`,
    behaviour: 'two selected features are deleted by one call and brought back by one undo',
    over: ['http', 'bridge'],
  },
  'debrief:scenario:plots': {
    origin: `${upstream}, proof of concept, scenario 4`,
    behaviour: 'two open plots: the list, then the right one is changed and the other stays byte for byte',
    over: ['http', 'bridge'],
  },
  'debrief:scenario:down': {
    origin: `${upstream}, proof of concept, scenario 5`,
    behaviour:
      'with the server away the bridge answers with a code once its wait is over, and the next call after a restart succeeds',
  },
  'debrief:python': {
    origin: `${upstream}, debrief_api`,
    behaviour: 'a Python script of the standard library alone works with a plot by the calls of the original',
  },
  'debrief:fixtures': {
    origin: 'design, the tree',
    behaviour: 'the plots are what their generator makes, and their sidecars are true',
  },
} as const satisfies Requirements
