/** Expensive requests to the apps: plots, track analyses, minds, recordings and pages. */
import {
  type Attack,
  attackBytes,
  counted,
  list,
  members,
  type Preparation,
  repeated,
  textMember,
} from './attack.ts'
import { feature, square, timedTrack } from './features.ts'

const plot = 'mission2.plot.json'
const openPlot: Preparation = { tool: 'Debrief__open_plot', args: { filename: plot } }

/** A line on which each vertex is farther from the chord of the remaining vertices than the next vertex. */
const zigzag = (count: number): readonly (readonly [number, number])[] =>
  Array.from({ length: count }, (_, at) => [at * 1e-6, (at % 2 === 0 ? 1e-4 : -1e-4) * (count - at)])

/** A line that jumps between two latitudes, so that no vertex can be simplified away. */
const wave = (bytes: number): string => counted(bytes, (index) => `[${index / 1e6},${index % 2}]`)

const debrief = (
  name: string,
  tool: string,
  make: Attack['make'],
  more: Pick<Attack, 'bytes' | 'before' | 'maxAnswerBytes'> = {},
): Attack => ({
  name: `a plot: ${name}`,
  target: { tool: `Debrief__${tool}` },
  make: (bytes) => make(bytes).replace('{', `{"filename":"${plot}",`),
  before: [openPlot],
  bytes: 2 ** 19,
  maxAnswerBytes: 2 ** 22,
  ...more,
})

/** Attacks on plots. */
const plotAttacks: readonly Attack[] = [
  debrief(
    'a narrowing zigzag, simplified',
    'get_features',
    (bytes) => `{"ids":["zigzag"],"detail":"full","simplify_m":1${' '.repeat(bytes)}}`,
    {
      before: [
        openPlot,
        {
          tool: 'Debrief__apply_command',
          args: {
            filename: plot,
            command: {
              command: 'setFeatureCollection',
              payload: {
                type: 'FeatureCollection',
                features: [
                  {
                    type: 'Feature',
                    id: 'zigzag',
                    geometry: { type: 'LineString', coordinates: zigzag(20_000) },
                    properties: { dataType: 'track' },
                  },
                ],
              },
            },
          },
        },
      ],
      bytes: 2000,
      maxAnswerBytes: 2 ** 21,
    },
  ),
  debrief('features', 'set_features', (bytes) => {
    const features = counted(bytes, (index) => feature(`f${index}`, 'Point', '[1,2]'))
    return `{"featureCollection":{"type":"FeatureCollection","features":${features}}}`
  }),
  debrief('features without an id', 'set_features', (bytes) => {
    const features = list('{"type":"Feature","geometry":null,"properties":{}}', bytes)
    return `{"featureCollection":{"type":"FeatureCollection","features":${features}}}`
  }),
  debrief('features with the same id', 'set_features', (bytes) => {
    const features = counted(bytes, () => feature('same', 'Point', '[1,2]'))
    return `{"featureCollection":{"type":"FeatureCollection","features":${features}}}`
  }),
  debrief('a line of many positions', 'set_features', (bytes) => {
    const line = feature('line', 'LineString', wave(bytes))
    return `{"featureCollection":{"type":"FeatureCollection","features":[${line}]}}`
  }),
  debrief('a polygon of many positions', 'set_features', (bytes) => {
    const ring = `[[0,0],${wave(bytes).slice(1, -1)},[0,0]]`
    const area = feature('area', 'Polygon', `[${ring}]`)
    return `{"featureCollection":{"type":"FeatureCollection","features":[${area}]}}`
  }),
  debrief('a polygon of many rings', 'set_features', (bytes) => {
    const rings = list('[[0,0],[1,1],[1,0],[0,0]]', bytes)
    const area = feature('area', 'Polygon', rings)
    return `{"featureCollection":{"type":"FeatureCollection","features":[${area}]}}`
  }),
  debrief(
    'a selection of unknown ids',
    'set_selection',
    (bytes) => `{"selectedIds":${counted(bytes, (index) => `"id-${index}"`)}}`,
    { bytes: 3_500_000 },
  ),
  debrief(
    'unknown ids to delete, ignored',
    'delete_features',
    (bytes) => `{"ignore_missing":true,"ids":${counted(bytes, (index) => `"id-${index}"`)}}`,
    { bytes: 3_500_000 },
  ),
  debrief('a list of commands', 'apply_command', (bytes) => {
    const commands = list('{"command":"setSelection","payload":{"selectedIds":[]}}', bytes)
    return `{"command":${commands}}`
  }),
  debrief('a list of time states', 'apply_command', (bytes) => {
    const state =
      '{"current":"2024-01-01T00:00:00Z","start":"2024-01-01T00:00:00Z","end":"2024-01-01T00:00:00Z"}'
    return `{"command":${list(`{"command":"setTimeState","payload":${state}}`, bytes)}}`
  }),
  debrief('commands that add a feature each', 'apply_command', (bytes) => {
    const commands = counted(
      bytes,
      (index) => `{"command":"addFeatures","payload":[${feature(`g${bytes}-${index}`, 'Point', '[1,2]')}]}`,
    )
    return `{"command":${commands},"ignore_missing":true}`
  }),
  debrief('nested results around a command', 'apply_command', (bytes) => {
    return `{"command":${'{"result":'.repeat(400)}${list('{}', bytes)}${'}'.repeat(400)}}`
  }),
]

/** An analysis with a response that can be several times as long as the tracks. */
const vault = (name: string, tool: string, make: Attack['make'], more: Partial<Attack> = {}): Attack => ({
  name: `an analysis: ${name}`,
  target: { tool: `ToolVault__${tool}` },
  make,
  bytes: 2 ** 17,
  maxAnswerBytes: 8 * 2 ** 20,
  ...more,
})

/** Attacks on track analyses, which run in workers. */
const analysisAttacks: readonly Attack[] = [
  vault('a track in and out of a zone', 'zone_transits', (bytes) => {
    return `{"tracks":[${timedTrack(bytes)}],"zones":[${feature('zone', 'Polygon', square)}]}`
  }),
  vault(
    'a track in a zone of many edges',
    'zone_transits',
    (bytes) => {
      const ring = `[[0,0],${wave(bytes / 2).slice(1, -1)},[0,0]]`
      const zone = feature('zone', 'Polygon', `[${ring}]`)
      return `{"tracks":[${timedTrack(bytes / 2)}],"zones":[${zone}]}`
    },
    { bytes: 2 ** 16 },
  ),
  vault('statistics of a long track', 'track_stats', (bytes) => `{"tracks":[${timedTrack(bytes)}]}`),
  vault('jumps of a long track', 'find_jumps', (bytes) => `{"tracks":[${timedTrack(bytes)}]}`),
  vault('a long track, simplified', 'simplify_track', (bytes) => `{"tracks":[${timedTrack(bytes)}]}`),
  vault('a long track, resampled', 'resample_track', (bytes) => `{"tracks":[${timedTrack(bytes)}]}`),
  vault('a short interval', 'resample_track', (bytes) => {
    return `{"interval_s":0.000001,"tracks":[${timedTrack(bytes)}]}`
  }),
  vault(
    'a fine grid',
    'viewport_grid_generator',
    (bytes) => {
      return `{"viewport_state":{"bounds":[-180,-90,180,90]},"lat_interval":1e-9,"lon_interval":1e-9${' '.repeat(bytes)}}`
    },
    { bytes: 2000 },
  ),
  vault('approaches of 40 tracks', 'cpa_tcpa', (bytes) => {
    const tracks = Array.from({ length: 40 }, () => timedTrack(bytes / 40))
    return `{"tracks":[${tracks}]}`
  }),
  vault('words', 'word_count', textMember('text', 'a ')),
]

const mind: Preparation = {
  tool: 'Minds__create_mind',
  args: { mind_id: 'attacked', config: { entity_id: 'attacked', traits: ['curious'] } },
}

const observed = (name: string, member: Attack['make'], bytes = 250_000): Attack => ({
  name: `a mind: ${name}`,
  target: { tool: 'Minds__decide_action' },
  make: (size) =>
    `{"mind_id":"attacked","observation":{"entity_id":"attacked","current_simulation_time":600,${member(size)}}}`,
  before: [mind],
  bytes,
})

/** Attacks on minds. */
const mindAttacks: readonly Attack[] = [
  observed('entities in sight', (bytes) => {
    const seen = counted(
      bytes,
      (index) => `{"entity_id":"e${index}","position":[${index},1],"interactions":["talk"]}`,
    )
    return `"status":{"position":[0,0]},"vision":{"visible_entities":${seen}}`
  }),
  observed('interactions of an entity', (bytes) => {
    const offered = counted(bytes, (index) => `"do ${index}"`)
    return `"vision":{"visible_entities":[{"entity_id":"e","interactions":${offered}}]}`
  }),
  observed('needs', (bytes) => {
    const needs = counted(bytes, (index) => `"need${index}":50`)
    return `"needs":{"needs":{${needs.slice(1, -1)}}}`
  }),
  observed('a conversation', (bytes) => {
    const history = list('{"speaker_id":"b","message":"hello there"}', bytes)
    return `"conversations":[{"interaction_id":"i","participants":["b"],"conversation_history":${history}}]`
  }),
  observed('conversations', (bytes) => {
    return `"conversations":${counted(bytes, (index) => `{"interaction_id":"i${index}","participants":["b${index}"]}`)}`
  }),
  observed(
    'a large observation',
    (bytes) => `"vision":{"visible_entities":${list('{}', bytes)}}`,
    attackBytes / 4,
  ),
  {
    name: 'a mind: traits',
    target: { tool: 'Minds__create_mind' },
    make: (bytes) => `{"mind_id":"t","config":{"entity_id":"t","traits":${list('"a"', bytes)}}}`,
    bytes: 3_500_000,
  },
  {
    name: 'a mind: memories',
    target: { tool: 'Minds__create_mind' },
    make: (bytes) =>
      `{"mind_id":"m","if_exists":"replace","config":{"entity_id":"m","traits":[],"initial_long_term_memories":${list(`"${'a '.repeat(900)}"`, bytes)}}}`,
    bytes: 1_700_000,
  },
  {
    name: 'a mind: a question',
    target: { tool: 'Minds__recall_memories' },
    make: (bytes) => `{"mind_id":"attacked","query":"${repeated('a ', bytes)}"}`,
    before: [mind],
    bytes: 2000,
  },
]

const recording = '"recording":"slide_at_45"'

/** Attacks on recordings and pages. */
const textAttacks: readonly Attack[] = [
  {
    name: 'a condition on frames',
    target: { tool: 'Replay__search_frames' },
    make: (bytes) => `{${recording},"predicate":"${repeated('abs(', bytes)}"}`,
    bytes: 500,
  },
  {
    name: 'a long condition on frames',
    target: { tool: 'Replay__search_frames' },
    make: (bytes) => `{${recording},"predicate":"${'9'.repeat(bytes)}"}`,
  },
  {
    name: 'series of a recording',
    target: { tool: 'Replay__get_series' },
    make: (bytes) => `{${recording},"series":${list('"energy.delta"', bytes)}}`,
    bytes: 2 ** 20,
  },
  {
    name: 'kinds of a timeline',
    target: { tool: 'Replay__timeline' },
    make: (bytes) => `{${recording},"kinds":${list('"a"', bytes)}}`,
    bytes: 2 ** 20,
  },
  {
    name: 'a long note on a frame',
    target: { tool: 'Replay__bookmark' },
    make: (bytes) => `{${recording},"frame_id":1,"note":"${'x'.repeat(bytes)}"}`,
  },
  {
    name: 'invariants of a recording',
    target: { tool: 'Replay__assert_invariants' },
    make: (bytes) => `{${recording},"invariants":${members(bytes)}}`,
    bytes: 400_000,
  },
  {
    name: 'bodies of a picture',
    target: { tool: 'Replay__render_frame' },
    make: (bytes) => `{${recording},"frame_id":1,"bodies":${list('1', bytes)}}`,
    bytes: 500_000,
    maxAnswerBytes: 2 ** 20,
  },
  {
    name: 'a frame of a recorder with many contacts',
    target: { post: '/api/apps/replay/recordings/contacts/frames', type: 'application/x-ndjson' },
    make: (bytes) => {
      const contact = '{"a":1,"b":2,"point":[0,0,0],"normal":[0,1,0],"depth":0}'
      return `{"bodies":[{"id":1,"mass":1},{"id":2,"mass":1}]}\n{"frame_id":1,"time":0,"bodies":[],"contacts":${list(contact, bytes)}}\n`
    },
    bytes: 2 ** 20,
  },
  {
    name: 'a question in words',
    target: { tool: 'Help__find_help_topics' },
    make: (bytes) => `{"text":"${counted(bytes, (index) => `w${index}`).replaceAll(',', ' ')}"}`,
    bytes: 2000,
    maxAnswerBytes: 2 ** 18,
  },
  {
    name: 'a question of 60 kB',
    target: { tool: 'Help__find_help_topics' },
    make: (bytes) => `{"text":"${repeated('a ', bytes)}"}`,
    bytes: 60_000,
  },
  {
    name: 'a long path of a page',
    target: { tool: 'Help__get_help_document' },
    make: (bytes) => `{"file_path":"${'a/'.repeat(bytes / 2)}"}`,
    bytes: 1000,
  },
  {
    name: 'a method that resembles problems of a validation',
    target: { method: 'resources/read', over: 'session' },
    make: (bytes) => JSON.stringify({ uri: repeated(': [{', bytes) }),
    bytes: 60_000,
  },
  {
    name: 'a review of a file with a long path',
    target: { tool: 'Trm__review' },
    make: (bytes) => JSON.stringify({ files: [{ path: repeated('a/', bytes), content: 'x' }] }),
    bytes: 2 ** 20,
  },
]

/** Every attack on an app. */
export const appAttacks: readonly Attack[] = [
  ...plotAttacks,
  ...analysisAttacks,
  ...mindAttacks,
  ...textAttacks,
]
