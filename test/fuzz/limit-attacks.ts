/** Requests just below the limits, and requests with the largest responses. */
import { type Attack, counted, list, type Preparation, textMember } from './attack.ts'
import { feature, square, timedTrack } from './features.ts'

const frame = { tool: 'Replay__get_frame' }

/** Attacks that the limits of JSON allow. */
const jsonAttacks: readonly Attack[] = [
  {
    name: 'as many names and members as are allowed',
    target: frame,
    make: (bytes) => `{"frame_id":${counted(bytes, (index) => `{"k${index}":1,"a":1,"b":1,"c":1}`)}}`,
    bytes: 1_500_000,
  },
  {
    name: 'as many numbers as are allowed',
    target: frame,
    make: (bytes) => `{"frame_id":${list('1.5e-7', bytes)}}`,
    bytes: 6_900_000,
  },
  {
    name: 'as many features as are allowed',
    target: { tool: 'Debrief__add_features' },
    make: (bytes) => `{"features":${list('{"type":"Feature","id":1}', bytes)}}`,
    bytes: 2_500_000,
  },
  {
    name: 'as many positions as are allowed',
    target: { tool: 'Debrief__add_features' },
    make: (bytes) => `{"features":[${feature('line', 'LineString', list('[1.25,1]', bytes))}]}`,
    bytes: 4_000_000,
  },
  {
    name: 'a text of escaped characters',
    target: frame,
    make: (bytes) => `{"frame_id":"${'\\u0041'.repeat(bytes / 6)}"}`,
  },
  {
    name: 'a long text to analyse',
    target: { tool: 'ToolVault__word_count' },
    make: textMember('text', 'a '),
  },
]

const vault = (name: string, tool: string, make: Attack['make']): Attack => ({
  name: `a large response: ${name}`,
  target: { tool: `ToolVault__${tool}` },
  make,
  bytes: 2 ** 20,
  maxAnswerBytes: 20 * 2 ** 20,
  isLong: true,
})

/** Attacks with responses that are many times as long as the request. */
const answerAttacks: readonly Attack[] = [
  vault('approaches of 200 tracks', 'cpa_tcpa', (bytes) => {
    return `{"tracks":[${Array.from({ length: 200 }, () => timedTrack(bytes / 200))}]}`
  }),
  vault('a track in and out of a zone', 'zone_transits', (bytes) => {
    return `{"tracks":[${timedTrack(bytes)}],"zones":[${feature('zone', 'Polygon', square)}]}`
  }),
  vault('a track, simplified', 'simplify_track', (bytes) => `{"tracks":[${timedTrack(bytes)}]}`),
  vault('a track, resampled', 'resample_track', (bytes) => `{"tracks":[${timedTrack(bytes)}]}`),
]

const plot = 'mission1.plot.json'
const openPlot: Preparation = { tool: 'Debrief__open_plot', args: { filename: plot } }
const points = (first: number, count: number): readonly object[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'Feature',
    id: `p${first + index}`,
    geometry: null,
    properties: {},
  }))
const replaceAll = (features: readonly object[]): Preparation => ({
  tool: 'Debrief__set_features',
  args: { filename: plot, featureCollection: { type: 'FeatureCollection', features } },
})
const add = (features: readonly object[]): Preparation => ({
  tool: 'Debrief__add_features',
  args: { filename: plot, features },
})

const startSession: Preparation = {
  tool: 'Trm__start',
  args: { repo: 'sums', test: 'true', preflight: false },
  keep: 'sessionId',
}
const writeFiles = (bytes: number): string => {
  const content = '# sum'.repeat(bytes / 500)
  return JSON.stringify({
    sessionId: '$sessionId',
    candidate: {
      mode: 'files',
      files: Array.from({ length: 100 }, (_, index) => ({ path: `many/file${index}.py`, content })),
    },
  })
}

/** Attacks on the files of a project. */
const projectAttacks: readonly Attack[] = [
  {
    name: 'an undo of 100 files',
    target: { tool: 'Trm__undo' },
    make: (bytes) => `{"sessionId":"$sessionId"${' '.repeat(bytes)}}`,
    before: [startSession, { tool: 'Trm__submit', args: JSON.parse(writeFiles(8_000_000)) }],
    bytes: 2000,
    isLong: true,
  },
  {
    name: 'a candidate of 100 files',
    target: { tool: 'Trm__submit' },
    make: writeFiles,
    before: [startSession],
    bytes: 8_000_000,
    isLong: true,
  },
]

/** Attacks on data that earlier requests have stored. */
const storedAttacks: readonly Attack[] = [
  {
    name: 'a selection of 100,000 features',
    target: { tool: 'Debrief__set_selection' },
    make: (bytes) => `{"filename":"${plot}","selectedIds":${counted(bytes, (index) => `"p${index}"`)}}`,
    before: [
      openPlot,
      replaceAll(points(0, 40_000)),
      add(points(40_000, 40_000)),
      add(points(80_000, 20_000)),
    ],
    bytes: 1_000_000,
    maxAnswerBytes: 2 ** 22,
  },
  {
    name: 'an undo of large changes',
    target: { tool: 'Debrief__undo' },
    make: (bytes) => `{"filename":"${plot}","steps":100,"scope":"all"${' '.repeat(bytes)}}`,
    before: [
      openPlot,
      replaceAll(points(0, 20_000)),
      ...[1, 2, 3, 4].flatMap((part) => [add(points(part * 40_000, 5000)), add(points(part * 50_000, 5000))]),
    ],
    bytes: 2000,
  },
  {
    name: 'a question to long memories',
    target: { tool: 'Minds__recall_memories' },
    make: (bytes) => `{"mind_id":"old","query":"${'ship sails '.repeat(bytes / 11)}"}`,
    before: [
      {
        tool: 'Minds__create_mind',
        args: {
          mind_id: 'old',
          if_exists: 'replace',
          config: {
            entity_id: 'old',
            traits: [],
            initial_long_term_memories: Array.from(
              { length: 500 },
              (_, index) => `${index} ${'ship sails '.repeat(160)}`,
            ),
          },
        },
      },
    ],
    bytes: 2000,
  },
  {
    name: 'a baseline with unknown invariants',
    target: { tool: 'Replay__save_baseline' },
    make: (bytes) =>
      `{"recording":"slide_at_45","name":"attack","invariants":{${counted(bytes, (index) => `"k${index}":1`).slice(1, -1)}}}`,
    bytes: 400_000,
  },
]

/** Every attack near a limit. */
export const limitAttacks: readonly Attack[] = [
  ...jsonAttacks,
  ...answerAttacks,
  ...projectAttacks,
  ...storedAttacks,
]
