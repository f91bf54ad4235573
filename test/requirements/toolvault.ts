import type { Requirements } from '../requirement.ts'

/** Requirements of ToolVault. */
export const toolvault = {
  'toolvault:tools': {
    origin: 'original vault design, the nine tools',
    behaviour: 'has the nine tools of the original under their names, aliases and arguments',
  },
  'toolvault:command': {
    origin: 'original vault design, DebriefCommand',
    behaviour: 'every tool returns an object with exactly command and payload',
    over: ['direct', 'http', 'bridge'],
  },
  'toolvault:failure': {
    origin: 'defects of the original: failures as text with success',
    behaviour: 'a tool that cannot run fails with a code and a remedy',
    over: ['direct', 'http', 'bridge'],
  },
  'toolvault:features': {
    origin: 'original validator, messages about each feature',
    behaviour: 'reports all problems of features together, with index, id and reason',
  },
  'toolvault:index': {
    origin: 'original vault design, tool index',
    behaviour:
      'the index is a tree of categories and tools with self-contained schemas, as a resource and as JSON over HTTP',
  },
  'toolvault:index:inject': {
    origin: 'original vault design, parameter injection',
    behaviour: 'the index has the source of each argument that a plot can provide',
  },
  'toolvault:rest': {
    origin: 'original vault design, REST interface',
    behaviour:
      'GET /tools/list and POST /tools/call work at the root of the alias port, with arguments as pairs or as an object',
  },
  'toolvault:rest:errors': {
    origin: 'defects of the original: stack traces in answers',
    behaviour:
      'the REST interface responds with 404 or 400, error, details and isError, and never with a stack',
  },
  'toolvault:delete': {
    origin: 'original vault design, delete_features',
    behaviour: 'delete_features accepts features or ids, converts ids to text, and accepts an empty list',
  },
  'toolvault:toggle': {
    origin: 'original vault design, toggle_first_feature_color',
    behaviour: 'the kind of the feature determines the colour property; a feature without an id is rejected',
  },
  'toolvault:fit': {
    origin: 'acceptance checks, fit_to_selection',
    behaviour: 'the bounds fit the mixed sample, a point and a line across the antimeridian',
  },
  'toolvault:visible': {
    origin: 'defects of the original: boxes compared with boxes',
    behaviour:
      'select_all_visible tests geometries, not bounds; touching counts; features without an id are reported',
  },
  'toolvault:start-time': {
    origin: 'defects of the original: current time outside its range',
    behaviour: 'select_feature_start_time extends the range to the new time',
  },
  'toolvault:grid': {
    origin: 'acceptance checks, viewport_grid_generator',
    behaviour: 'grid points are exact multiples, at most 10,000, and every grid has a new id',
  },
  'toolvault:speed': {
    origin: 'defects of the original: one minute a segment',
    behaviour: 'track_speed_filter derives speeds from times; a constant interval is used only on request',
  },
  'toolvault:speed:recorded': {
    origin: 'original vault design, track_speed_filter_fast',
    behaviour: 'track_speed_filter_fast compares only recorded speeds',
  },
  'toolvault:geodesic': {
    origin: 'published examples of GeographicLib; GeodSolve and RhumbSolve',
    behaviour: 'distances, bearings and positions agree with GeographicLib',
  },
  'toolvault:bearing:undefined': {
    origin: 'documentation of GeographicLib, multiple shortest geodesics',
    behaviour: 'a bearing between equal or opposite places is null, with the reason',
  },
  'toolvault:range-bearing': {
    origin: 'acceptance checks, range_bearing',
    behaviour: 'range and bearing are geodesic, with units, relative bearing and angle on the bow',
  },
  'toolvault:cpa': {
    origin: 'acceptance checks, cpa_tcpa',
    behaviour: 'finds the closest approach between fixes; tracks without a common time fail with NO_OVERLAP',
  },
  'toolvault:cpa:predicted': {
    origin: 'acceptance checks, cpa_tcpa',
    behaviour: 'parallel vessels have no tcpa, and the course of a stopped vessel is ignored',
  },
  'toolvault:zone': {
    origin: 'acceptance checks, zone_transits',
    behaviour: 'transits have times between fixes, also without a fix inside and across the antimeridian',
  },
  'toolvault:stats': {
    origin: 'original capability list, track statistics',
    behaviour: 'lengths, speeds and gaps are correct; recorded speeds are separate',
  },
  'toolvault:simplify': {
    origin: 'acceptance checks, simplify_track',
    behaviour: 'lists stay aligned with vertices, the ends remain, and no deviation exceeds the tolerance',
  },
  'toolvault:jumps': {
    origin: 'acceptance checks, jump finder',
    behaviour:
      'finds injected jumps, also next to gaps and at the ends, and reports neither a gap nor a good fix',
  },
  'toolvault:resample': {
    origin: 'original capability list, resample and interpolate',
    behaviour: 'resampled tracks lie on the track at regular times, and gaps remain',
  },
  'toolvault:scenes': {
    origin: 'design, fixtures: truth sidecars',
    behaviour:
      'the tools find the true events of generated scenes, also across the antimeridian and at 80 degrees north',
  },
  'toolvault:time:utc': {
    origin: 'acceptance checks, time',
    behaviour: 'a time without a zone is UTC in any time zone of the server',
  },
  'toolvault:import:nmea': {
    origin: 'acceptance checks, imports',
    behaviour: 'a log without a date becomes one track with the date of the caller, also across midnight',
  },
  'toolvault:import:signalk': {
    origin: 'acceptance checks, imports',
    behaviour: 'plaka.log of signalk-server becomes one track of 7250 fixes',
  },
  'toolvault:import:ais': {
    origin: 'acceptance checks, imports',
    behaviour: 'AIS becomes a track for each vessel, and values that are not available become null',
  },
  'toolvault:import:rep': {
    origin: 'acceptance checks, imports',
    behaviour: 'REP becomes tracks and annotations, and the year 95 is 1995',
  },
  'toolvault:import:xml': {
    origin: 'original capability list, import',
    behaviour: 'GPX and KML become tracks, points and areas',
  },
  'toolvault:import:complete': {
    origin: 'analysts: positions that disappear without notice',
    behaviour: 'every position of a file is imported, or skipped with its line and the reason',
  },
  'toolvault:export': {
    origin: 'original capability list, export',
    behaviour: 'features are written as CSV, GPX, KML and REP, which the importers read again',
  },
  'toolvault:import:xml-limits': {
    origin: 'design, safe by default',
    behaviour:
      'rejects a GPX or KML document with too many or too deeply nested elements, or with a document type, while it reads it',
  },
  'toolvault:import:roots': {
    origin: 'design, settings: roots',
    behaviour: 'an importer reads only below the roots; other paths fail with a remedy',
  },
  'toolvault:worker': {
    origin: 'design, an app: work beyond 10 ms',
    behaviour: 'long runs use a worker, report progress and can be cancelled',
  },
} as const satisfies Requirements
