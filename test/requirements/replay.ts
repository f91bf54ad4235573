import type { Requirements } from '../requirement.ts'

/** The Replay app: fifteen tools for recordings, without the defects of their predecessor, and tools that find faults. */
export const replay = {
  'replay:tools': {
    origin: 'original replay design, tool handler methods',
    behaviour: 'the fifteen tools exist with their names, arguments and result fields',
  },
  'replay:list:default-folder': {
    origin: 'original replay design, default recording directory',
    behaviour:
      'without a directory the build folder below each root is searched too; a missing one is not an error',
  },
  'replay:list:only-recordings': {
    origin: 'original replay design, default recording directory',
    behaviour: 'recordings are listed in sorted order, also from nested folders, and asset databases are not',
  },
  'replay:list:sizes': {
    origin: 'design, new parts: console',
    behaviour:
      'list_recordings returns bodies and duration of recordings that were opened or summarized, without opening any, and not those of a file that changed',
  },
  'replay:load:ok': {
    origin: 'original replay design, unit tests',
    behaviour: 'load_recording makes a recording active and returns its bodies and frames',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:load:no-recording': {
    origin: 'original replay design, error code standards',
    behaviour: 'a query before load_recording fails with NO_RECORDING and legacy code -32000',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:load:failure-keeps': {
    origin: 'original replay design, session state',
    behaviour: 'a failed load does not change the active recording',
  },
  'replay:session:explicit': {
    origin: 'design, the wire: sessions',
    behaviour: 'an explicit recording overrides the active one without changing it',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:session:named': {
    origin: 'design, the wire: sessions',
    behaviour: 'every result contains the id of its recording',
  },
  'replay:session:shared-hint': {
    origin: 'design, the wire: sessions',
    behaviour: 'in the shared session load_recording advises to pass the recording',
  },
  'replay:metadata': {
    origin: 'original replay design, get_metadata',
    behaviour: 'get_metadata lists the frame count, the bodies with mass, and contact-only bodies separately',
  },
  'replay:frame': {
    origin: 'original replay design, get_frame',
    behaviour: 'get_frame returns states, collisions, friction constraints and solver of one frame',
  },
  'replay:frame:unknown': {
    origin: 'original replay design, error handling',
    behaviour: 'an unknown frame is a coded error that contains the range',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:body:unknown': {
    origin: 'original replay design, error handling',
    behaviour: 'an unknown body is a coded error that lists the known ones, in every tool that takes one',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:body:state': {
    origin: 'original replay design, get_body_state',
    behaviour: 'get_body_state returns position, velocity, orientation and angular velocity',
  },
  'replay:contacts:body': {
    origin: 'original replay design, get_contacts_for_body',
    behaviour:
      'get_contacts_for_body returns the friction constraints of one body, including environment ids',
  },
  'replay:energy:body': {
    origin: 'original replay design, get_body_energy',
    behaviour: 'get_body_energy returns an inclusive range of one body, and its parts add up to its total',
  },
  'replay:energy:system': {
    origin: 'original replay design, get_system_energy',
    behaviour: 'get_system_energy returns an inclusive range with totals and delta_e',
  },
  'replay:energy:bucketed': {
    origin: 'design, Replay: default answers fit a context',
    behaviour: 'a long series is divided into buckets with exact totals, and a cursor returns the rest',
  },
  'replay:anomalies:threshold': {
    origin: 'original replay design, find_energy_anomalies',
    behaviour:
      'every frame with |delta_e| strictly above the threshold is returned, and an empty list if there is no such frame',
  },
  'replay:anomalies:kind': {
    origin: 'design, settled questions',
    behaviour: 'each anomaly has its kind, and baselines are excluded from counts and summary',
  },
  'replay:compare': {
    origin: 'original replay design, compare_body_across_frames',
    behaviour: 'deltas are b minus a, with elapsed time and rotation angle, and a summary text',
  },
  'replay:history': {
    origin: 'original replay design, get_contact_history',
    behaviour: 'get_contact_history accepts a pair in either order and reports chatter and normal flips',
  },
  'replay:solver:range': {
    origin: 'original replay design, get_solver_diagnostics',
    behaviour: 'without bounds the diagnostics cover the first to the last frame',
  },
  'replay:solver:free-flight': {
    origin: 'design, settled questions',
    behaviour: 'convergence is checked only in frames with constraints',
  },
  'replay:cone:worked-example': {
    origin: 'original replay design, diagnostic tool output format',
    behaviour:
      'mu 0.5, N 98.1, tangent (49.04, 0.12): limit 49.05, total 49.04, not exceeded, with correct margin and utilisation',
  },
  'replay:cone:violation': {
    origin: 'original replay design, unit tests',
    behaviour: 'a contact beyond the cone by more than 1 % exceeds the limit and is counted',
  },
  'replay:cone:strict': {
    origin: 'design, settled questions',
    behaviour: 'exceeds_limit_strict ignores noise below 1e-6',
  },
  'replay:cone:old-era': {
    origin: 'original recorder, schema history',
    behaviour: 'a recording without tangent impulses is reported as such, not as free of violations',
  },
  'replay:unit:impulse': {
    origin: 'design, settled questions',
    behaviour:
      'recorded values keep their names, and the result also contains the unit and the values in newtons',
  },
  'replay:penetration': {
    origin: 'original replay design, check_penetration',
    behaviour: 'contacts deeper than the threshold, strictly, are excessive',
  },
  'replay:resting': {
    origin: 'original replay design, check_resting_contact',
    behaviour:
      'moving bodies in contact are listed, the environment is counted separately, and a velocity of g*dt is explained',
  },
  'replay:resting:frictionless': {
    origin: 'original recorder, frictionless contacts',
    behaviour: 'contacts without friction rows still count as contacts',
  },
  'replay:defect:speed': {
    origin: 'defects of the original: a frame query loads every frame',
    behaviour: 'one frame is returned without reading the others',
  },
  'replay:defect:ids': {
    origin: 'defects of the original: environment ids',
    behaviour: 'the floor is found by its plain id and by its flagged id',
  },
  'replay:resource:metadata': {
    origin: 'design, the wire: resources',
    behaviour: 'the metadata of each recording is a resource, with completion of its id',
  },
  'replay:resource:frame': {
    origin: 'design, the wire: resources',
    behaviour: 'a frame and the latest frame are resources',
  },
  'replay:story': {
    origin: 'original replay design, end-to-end test',
    behaviour:
      'load, find anomalies, get the frame, check the cone: a faulty recording yields its fault, frame and bodies',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:faults': {
    origin: 'design, fixtures',
    behaviour: 'the tools show the known fault of each faulty recording at its known frame',
  },
  'replay:diagnose': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'the first finding of each faulty recording is its fault, by kind, body and frame; a clean one has no warning; a result fits in 4 kB',
  },
  'replay:laws:reaction': {
    origin: 'docs/laws.md',
    behaviour:
      'the third law: an unequal or missing reaction is named with both bodies, with or without impulses',
  },
  'replay:laws:collision': {
    origin: 'docs/laws.md',
    behaviour:
      'a collision without a contact row is named with both bodies, and so is its wrong reaction or energy',
  },
  'replay:laws:impulse': {
    origin: 'docs/laws.md',
    behaviour: 'contact impulses are finite and push',
  },
  'replay:laws:friction': {
    origin: 'docs/laws.md',
    behaviour:
      'friction opposes sliding with mu Jn; a friction pyramid may exceed mu Jn between its two tangents',
  },
  'replay:laws:acceleration': {
    origin: 'docs/laws.md',
    behaviour: 'a constant unexplained acceleration is reported with its vector and compared with gravity',
  },
  'replay:laws:spin': {
    origin: 'docs/laws.md',
    behaviour: 'spins change only by torques, and orientations follow spins',
  },
  'replay:laws:unit': {
    origin: 'docs/laws.md',
    behaviour: 'forces among impulses, grams and degrees are named as unit mistakes',
  },
  'replay:laws:velocity': {
    origin: 'docs/laws.md',
    behaviour: 'a velocity that disagrees with the motion for long is named as such',
  },
  'replay:laws:overlap': {
    origin: 'docs/laws.md',
    behaviour: 'shapes that overlap have a contact, and contacts do not act across a gap',
  },
  'replay:laws:rows': {
    origin: 'docs/laws.md',
    behaviour:
      'rows that contradict each other, the states or themselves are reported; rocking bodies do not chatter',
  },
  'replay:coverage': {
    origin: 'design, replay: verdicts never claim more than was checked',
    behaviour:
      'each verdict names the laws that were checked, and for the others the frames, bodies and missing data',
  },
  'replay:laws:joints': {
    origin: 'docs/laws.md',
    behaviour:
      'articulated bodies are balanced with the reactions of their joints or as a group, and joints that drift are reported',
  },
  'replay:diagnose:unsent': {
    origin: 'docs/recording-frames.md: a member that is absent means not known',
    behaviour: 'data that an engine never sends is not a fault and hides no other fault',
  },
  'replay:diagnose:random': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'in random scenes an injected fault ranks first, and scenes without a fault have no warning',
  },
  'replay:render:shapes': {
    origin: 'users of render_frame',
    behaviour:
      'a picture shows recorded shapes and names with labels apart, and an exploded scene by the bodies that are near',
  },
  'replay:plot:overlay': {
    origin: 'users of plot',
    behaviour: 'a chart overlays two runs, and its axis is logarithmic around a blow-up',
  },
  'replay:diagnose:planted': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'planted faults of an independent simulation rank first, or a law that they break is listed as not checked, for every kind, magnitude and lack of data',
  },
  'replay:laws': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'each law can be checked separately over a range of frames',
  },
  'replay:range-checks': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'friction cone, penetration and resting contact can be checked over ranges, and return runs with an exact count',
  },
  'replay:explain': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'explain_frame returns the balance of forces of each body, its contacts, and the changes in one frame',
  },
  'replay:timeline': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'the timeline of a recording is a list of events in pages, and can be filtered by kind',
  },
  'replay:stalls': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'frames in which the solver did not converge are returned as runs, with the bodies of their islands and the ratio of their masses',
  },
  'replay:runs:fisher': {
    origin: 'engines: many runs',
    behaviour: "p-values are those of Fisher's exact test, conditional on the margins of each scenario",
  },
  'replay:runs:regression': {
    origin: 'engines: many runs',
    behaviour:
      'find_regression names the first commit at which the share of bad runs rises; 5,000 clean runs raise no alarm',
  },
  'replay:runs:summary': {
    origin: 'engines: many runs',
    behaviour:
      'a sealed run or a diagnosed file has a summary with its provenance; runs that were not diagnosed are counted as such',
  },
  'replay:divergence': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'the first frame in which two runs differ is reported, bit by bit and by tolerance',
  },
  'replay:compare-recordings': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'two runs are compared body by body, matched by id or mass, aligned by frame or time',
  },
  'replay:series': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a named series over a range is returned in few points with exact totals, or page by page',
  },
  'replay:trajectory': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'the path of a body is returned in few points that preserve its shape, with exact lengths',
  },
  'replay:search': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'frames that meet a condition are returned as runs; a malformed condition is rejected with its position',
  },
  'replay:sql:views': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'views hide the differences between eras and the runs of Causeway',
  },
  'replay:sql:gates': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a query cannot write, attach, load extensions, or exceed its deadline or its memory',
  },
  'replay:sql:queue': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a third concurrent query of a recording waits instead of being rejected',
  },
  'replay:sql:lost': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a query whose process is killed fails with WORKER_LOST, not with a memory error',
  },
  'replay:plot': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a plot is a PNG with axes, units and the cited frame marked, and its SVG is a resource',
  },
  'replay:render': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'a frame is rendered as a PNG with bodies, contact forces and speeds, in every view and every era',
  },
  'replay:bookmark': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'notes on frames are added, listed and removed',
  },
  'replay:notebook': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a repeated mutating call changes nothing and returns the first result',
  },
  'replay:baseline': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'figures of a run are stored, and later runs of the scene are compared with them',
  },
  'replay:invariants': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'limits are checked, and each result has pass or fail, the place and the evidence',
  },
  'replay:engines': {
    origin: 'design, recorders',
    behaviour:
      'clean runs of real engines have no finding of warning or above, and a changed velocity is found at its frame',
  },
  'replay:tail': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'new frames of a growing recording are returned in order, each once',
  },
  'replay:tail:announced': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a client that subscribed to the latest frame is notified of new frames',
  },
  'replay:live': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'while an engine records, one client follows and another requests a diagnosis every second: no frame is lost and recording waits for neither',
  },
  'replay:prompts': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'prompts lead from diagnosis to evidence, and from two runs to what improved or got worse',
  },
  'replay:runs:answers': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a recorded run gives the same results as the recording that it was imported from',
  },
  'replay:health:numbers': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'health reports the number of private copies and runs, their bytes and their caps',
  },
} as const satisfies Requirements
