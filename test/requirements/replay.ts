import type { Requirements } from '../requirement.ts'

/** The Replay app: fifteen tools over a recording with none of the defects of their predecessor, and what finds faults. */
export const replay = {
  'replay:tools': {
    origin: 'original replay design, tool handler methods',
    behaviour: 'the fifteen tools exist with their names, arguments and result fields',
  },
  'replay:list:default-folder': {
    origin: 'original replay design, default recording directory',
    behaviour:
      'without a directory the build folder below each root is among the places searched; an absent one is no error',
  },
  'replay:list:only-recordings': {
    origin: 'original replay design, default recording directory',
    behaviour:
      'only recordings are listed, sorted and from nested folders, an asset database is not among them',
  },
  'replay:load:ok': {
    origin: 'original replay design, unit tests',
    behaviour: 'load_recording makes a recording active and tells its bodies and frames',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:load:no-recording': {
    origin: 'original replay design, error code standards',
    behaviour: 'a question before load_recording is NO_RECORDING with legacy code -32000',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:load:failure-keeps': {
    origin: 'original replay design, session state',
    behaviour: 'a load that fails keeps the recording that was active',
  },
  'replay:session:explicit': {
    origin: 'design, the wire: sessions',
    behaviour: 'an explicit recording wins over the active one and leaves it as it was',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:session:named': {
    origin: 'design, the wire: sessions',
    behaviour: 'every answer names the recording it was taken from',
  },
  'replay:session:shared-hint': {
    origin: 'design, the wire: sessions',
    behaviour: 'in the shared session load_recording says to pass the recording',
  },
  'replay:metadata': {
    origin: 'original replay design, get_metadata',
    behaviour: 'get_metadata lists the bodies with mass and the frame count, and contact-only bodies apart',
  },
  'replay:frame': {
    origin: 'original replay design, get_frame',
    behaviour: 'get_frame answers states, collisions, friction constraints and solver of one frame',
  },
  'replay:frame:unknown': {
    origin: 'original replay design, error handling',
    behaviour: 'an unknown frame is a coded error that gives the range',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:body:unknown': {
    origin: 'original replay design, error handling',
    behaviour: 'an unknown body is a coded error that lists the known ones, in every tool that takes one',
    over: ['direct', 'http', 'bridge'],
  },
  'replay:body:state': {
    origin: 'original replay design, get_body_state',
    behaviour: 'get_body_state answers position, velocity, orientation and angular velocity',
  },
  'replay:contacts:body': {
    origin: 'original replay design, get_contacts_for_body',
    behaviour: 'get_contacts_for_body answers the friction constraints of one body, environment ids included',
  },
  'replay:energy:body': {
    origin: 'original replay design, get_body_energy',
    behaviour: 'get_body_energy answers an inclusive range of one body, summing to its total',
  },
  'replay:energy:system': {
    origin: 'original replay design, get_system_energy',
    behaviour: 'get_system_energy answers an inclusive range with totals and delta_e',
  },
  'replay:energy:bucketed': {
    origin: 'design, Replay: default answers fit a context',
    behaviour: 'a long series is bucketed with exact totals, and a cursor leads through the rest',
  },
  'replay:anomalies:threshold': {
    origin: 'original replay design, find_energy_anomalies',
    behaviour:
      'every frame with |delta_e| strictly above the threshold is returned, none gives an empty list',
  },
  'replay:anomalies:kind': {
    origin: 'design, settled questions',
    behaviour: 'each anomaly has its kind, and baselines are left out of counts and summary',
  },
  'replay:compare': {
    origin: 'original replay design, compare_body_across_frames',
    behaviour: 'deltas are b minus a, with elapsed time and rotation angle, and a summary in words',
  },
  'replay:history': {
    origin: 'original replay design, get_contact_history',
    behaviour: 'get_contact_history answers a pair in either order and reports chatter and normal flips',
  },
  'replay:solver:range': {
    origin: 'original replay design, get_solver_diagnostics',
    behaviour: 'without bounds the diagnostics cover the first to the last frame',
  },
  'replay:solver:free-flight': {
    origin: 'design, settled questions',
    behaviour: 'convergence is judged only where constraints exist',
  },
  'replay:cone:worked-example': {
    origin: 'original replay design, diagnostic tool output format',
    behaviour:
      'mu 0.5, N 98.1, tangent (49.04, 0.12): limit 49.05, total 49.04, not exceeded, margin and utilisation right',
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
    behaviour: 'a recording without tangent impulses is said to be so, not judged free of violations',
  },
  'replay:unit:impulse': {
    origin: 'design, settled questions',
    behaviour: 'recorded values keep their names, the unit is told, and newtons stand beside them',
  },
  'replay:penetration': {
    origin: 'original replay design, check_penetration',
    behaviour: 'contacts deeper than the threshold, strictly, are excessive',
  },
  'replay:resting': {
    origin: 'original replay design, check_resting_contact',
    behaviour:
      'bodies in contact that move are named, the environment is counted apart, and g*dt is told for what it is',
  },
  'replay:resting:frictionless': {
    origin: 'original recorder, frictionless contacts',
    behaviour: 'contacts without friction rows still count as contacts',
  },
  'replay:defect:speed': {
    origin: 'defects of the original: a frame query loads every frame',
    behaviour: 'one frame is answered without reading the others',
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
    behaviour: 'each faulty recording shows its known fault at its known frame through the tools',
  },
  'replay:diagnose': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'each recording with a fault has it as the first finding, by kind, body and frame; a clean one has no warning; an answer fits in 2 kB',
  },
  'replay:diagnose:unsent': {
    origin: 'docs/recording-frames.md: a member that is absent means not known',
    behaviour: 'a run is judged by what its engine sends: what it never sends is no fault, and hides none',
  },
  'replay:diagnose:random': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'in random scenes a fault that was put in ranks first, and without one there is no warning',
  },
  'replay:laws': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'each law is a check of its own over a range of frames',
  },
  'replay:range-checks': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'friction cone, penetration and resting contact are checked over ranges too, as runs with an exact count',
  },
  'replay:explain': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'one frame is explained: the balance of forces of each body, its contacts, what changed in it',
  },
  'replay:timeline': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'what happens in a recording is a list of events in pages, and can be asked for by kind',
  },
  'replay:stalls': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'frames in which the solver gave up are runs, with the bodies of their islands and the ratio of their masses',
  },
  'replay:divergence': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'the first frame in which two runs differ is named, bit by bit and by tolerance',
  },
  'replay:compare-recordings': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'two runs are compared body by body, found by id or mass, aligned by frame or time',
  },
  'replay:series': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'series by name over a range, in few points with exact totals, or page by page',
  },
  'replay:trajectory': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'the path of a body in few points that keep its shape, with exact lengths',
  },
  'replay:search': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'frames that meet a condition are found as runs; a condition that cannot be read is refused at its place',
  },
  'replay:sql:views': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'views hide the normalisation of every era and of our own runs',
  },
  'replay:sql:gates': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a query cannot write, attach, load extensions, or run beyond its deadline or its memory',
  },
  'replay:sql:queue': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a query beyond two of a recording waits for its turn instead of being refused',
  },
  'replay:sql:lost': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a query whose process is killed is WORKER_LOST, not a lack of memory',
  },
  'replay:plot': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a plot is a PNG with axes and units and the cited frame marked, and its SVG is a resource',
  },
  'replay:render': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a frame is a PNG with bodies, contact forces and speeds, in every view and every era',
  },
  'replay:bookmark': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'notes on frames are added, listed and removed',
  },
  'replay:notebook': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a mutating call that is repeated changes nothing, and gets the answer of the first',
  },
  'replay:baseline': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'figures of a run are kept, and later runs of the scene are held against them',
  },
  'replay:invariants': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'limits are asserted, each with pass or fail, where, and what shows it',
  },
  'replay:tail': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'new frames of a growing recording come in order, each once',
  },
  'replay:tail:announced': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'whoever subscribed to the latest frame hears of new ones',
  },
  'replay:live': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour:
      'while an engine records, one client follows and another asks for a diagnosis every second: no frame is lost and recording waits for neither',
  },
  'replay:prompts': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'prompts lead from diagnosis to evidence, and from two runs to what became better or worse',
  },
  'replay:runs:answers': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'a run that we record is answered as the recording that it was imported from',
  },
  'replay:health:numbers': {
    origin: 'design, replay: beyond the fifteen tools',
    behaviour: 'health tells of private copies and of runs: how many, their bytes, their caps',
  },
} as const satisfies Requirements
