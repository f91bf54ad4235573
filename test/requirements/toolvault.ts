import type { Requirements } from '../requirement.ts'

/** ToolVault: analysis tools of plots. */
export const toolvault = {
  'toolvault:tools': {
    origin: 'original vault design, the nine tools',
    behaviour: 'the nine tools of the original exist under their names, aliases and arguments',
  },
  'toolvault:command': {
    origin: 'original vault design, DebriefCommand',
    behaviour: 'every tool answers an object with exactly command and payload',
    over: ['direct', 'http', 'bridge'],
  },
  'toolvault:failure': {
    origin: 'defects of the original: failures as text with success',
    behaviour: 'a tool that cannot do its work fails with a code and says what to do',
    over: ['direct', 'http', 'bridge'],
  },
  'toolvault:features': {
    origin: 'original validator, messages about each feature',
    behaviour: 'all that is wrong with features is told at once, with index, id and reason',
  },
  'toolvault:index': {
    origin: 'original vault design, tool index',
    behaviour:
      'the index is a tree of categories and tools with self-contained schemas, as resource and as JSON over HTTP',
  },
  'toolvault:index:inject': {
    origin: 'original vault design, parameter injection',
    behaviour: 'the index says for each argument that a plot can give where it comes from',
  },
  'toolvault:rest': {
    origin: 'original vault design, REST interface',
    behaviour:
      'GET /tools/list and POST /tools/call work at the root of the alias port, arguments as pairs or as an object',
  },
  'toolvault:rest:errors': {
    origin: 'defects of the original: stack traces in answers',
    behaviour: 'the REST interface answers 404 and 400 with error, details and isError, and never a stack',
  },
  'toolvault:delete': {
    origin: 'original vault design, delete_features',
    behaviour: 'delete_features takes features or ids, ids become text, none is a success without effect',
  },
  'toolvault:toggle': {
    origin: 'original vault design, toggle_first_feature_color',
    behaviour: 'the colour property follows the kind of the feature, and a feature without id is refused',
  },
  'toolvault:fit': {
    origin: 'acceptance checks, fit_to_selection',
    behaviour: 'the box fits the mixed sample, a point and a line across the antimeridian',
  },
  'toolvault:visible': {
    origin: 'defects of the original: boxes compared with boxes',
    behaviour: 'select_all_visible looks at geometries, touching counts, ids are never made up',
  },
  'toolvault:start-time': {
    origin: 'defects of the original: current time outside its range',
    behaviour: 'select_feature_start_time widens the range to the new time',
  },
  'toolvault:grid': {
    origin: 'acceptance checks, viewport_grid_generator',
    behaviour: 'grid points are exact multiples, at most 10,000, and every grid has an id of its own',
  },
  'toolvault:speed': {
    origin: 'defects of the original: one minute a segment',
    behaviour: 'track_speed_filter derives speeds from times; the old assumption only when asked for',
  },
  'toolvault:speed:recorded': {
    origin: 'original vault design, track_speed_filter_fast',
    behaviour: 'track_speed_filter_fast compares recorded speeds and nothing else',
  },
  'toolvault:geodesic': {
    origin: 'published examples of GeographicLib; GeodSolve and RhumbSolve',
    behaviour: 'distances, bearings and positions agree with GeographicLib',
  },
  'toolvault:range-bearing': {
    origin: 'acceptance checks, range_bearing',
    behaviour: 'range and bearing are geodesic, with units, relative bearing and angle on the bow as defined',
  },
  'toolvault:cpa': {
    origin: 'acceptance checks, cpa_tcpa',
    behaviour: 'the closest approach is found between fixes, and disjoint times are NO_OVERLAP',
  },
  'toolvault:cpa:predicted': {
    origin: 'acceptance checks, cpa_tcpa',
    behaviour: 'parallel vessels have no tcpa, and the course of a stopped one counts for nothing',
  },
  'toolvault:zone': {
    origin: 'acceptance checks, zone_transits',
    behaviour: 'transits have times between fixes, also without a fix inside and across the antimeridian',
  },
  'toolvault:stats': {
    origin: 'original capability list, track statistics',
    behaviour: 'lengths, speeds and gaps are right, recorded speeds stand apart',
  },
  'toolvault:simplify': {
    origin: 'acceptance checks, simplify_track',
    behaviour: 'lists stay aligned with vertices, ends are kept, no deviation exceeds the tolerance',
  },
  'toolvault:jumps': {
    origin: 'acceptance checks, jump finder',
    behaviour: 'all injected jumps are found, no gap is reported',
  },
  'toolvault:resample': {
    origin: 'original capability list, resample and interpolate',
    behaviour: 'resampled tracks lie on the track at even times, and gaps stay gaps',
  },
  'toolvault:scenes': {
    origin: 'design, fixtures: truth sidecars',
    behaviour:
      'on generated scenes, also across the antimeridian and at 80 degrees north, the tools find what is true',
  },
  'toolvault:time:utc': {
    origin: 'acceptance checks, time',
    behaviour: 'a time without a zone is UTC in whatever zone the server runs',
  },
  'toolvault:import:nmea': {
    origin: 'acceptance checks, imports',
    behaviour: 'a log without a date becomes one track with the date of the caller, over midnight too',
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
  'toolvault:import:xml-limits': {
    origin: 'design, safe by default',
    behaviour:
      'a GPX or KML document with too many or too deeply nested elements, or with a document type, is rejected while it is read',
  },
  'toolvault:import:roots': {
    origin: 'design, settings: roots',
    behaviour: 'an importer reads only below the roots, and says what to do about the rest',
  },
  'toolvault:worker': {
    origin: 'design, an app: work beyond 10 ms',
    behaviour: 'long runs take place in a worker, report progress and are cancelled',
  },
} as const satisfies Requirements
