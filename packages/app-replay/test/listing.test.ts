import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openForTest } from '@causeway/app-kit/testing'
import { wireName } from '@causeway/protocol'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { frameLines, runLine, streamLines } from '../../recording/test/run-lines.ts'
import replay from '../src/index.ts'
import type { ReplayStore } from '../src/store/store.ts'
import { fixtures, type OpenReplay, openReplay } from './replay-kit.ts'

/** Returns the size of a tool's listing in bytes. */
const getSize = (tool: (typeof replay.tools)[number]): number => {
  const { name, title, about, inputSchema, outputSchema, annotations } = tool
  const listing = {
    name: wireName(replay.name, name),
    title,
    description: about,
    inputSchema,
    outputSchema,
    annotations,
  }
  return Buffer.byteLength(JSON.stringify(listing))
}

/** Arguments and result fields of the seed's tools. */
const original: Readonly<Record<string, readonly [args: readonly string[], answer: readonly string[]]>> = {
  list_recordings: [['directory'], ['directory', 'recordings', 'summary']],
  load_recording: [['path'], ['loaded', 'path', 'bodies', 'total_frames', 'summary']],
  get_metadata: [[], ['bodies', 'total_frames', 'summary']],
  get_frame: [
    ['frame_id'],
    ['frame_id', 'simulation_time', 'states', 'collisions', 'friction_constraints', 'solver'],
  ],
  get_body_state: [
    ['body_id', 'frame_id'],
    ['body_id', 'position', 'velocity', 'orientation', 'angular_velocity'],
  ],
  get_contacts_for_body: [
    ['body_id', 'frame_id'],
    ['body_id', 'frame_id', 'contacts', 'summary'],
  ],
  get_body_energy: [
    ['body_id', 'start_frame', 'end_frame'],
    ['body_id', 'energy_points', 'summary'],
  ],
  get_system_energy: [
    ['start_frame', 'end_frame'],
    ['energy_points', 'summary'],
  ],
  find_energy_anomalies: [['threshold'], ['threshold', 'anomalies', 'summary']],
  compare_body_across_frames: [
    ['body_id', 'frame_a', 'frame_b'],
    ['body_id', 'frame_a', 'frame_b', 'position_delta', 'velocity_delta', 'summary'],
  ],
  get_contact_history: [
    ['body_a_id', 'body_b_id', 'start_frame', 'end_frame'],
    ['body_a_id', 'body_b_id', 'start_frame', 'end_frame', 'contact_history', 'summary'],
  ],
  get_solver_diagnostics: [
    ['start_frame', 'end_frame'],
    ['start_frame', 'end_frame', 'diagnostics', 'summary'],
  ],
  check_friction_cone: [
    ['frame_id', 'body_id'],
    ['frame_id', 'body_id', 'violations', 'summary'],
  ],
  check_penetration: [
    ['frame_id', 'threshold'],
    ['frame_id', 'threshold', 'excessive_penetrations', 'summary'],
  ],
  check_resting_contact: [
    ['frame_id', 'velocity_threshold'],
    ['frame_id', 'velocity_threshold', 'bodies_in_contact', 'moving_bodies', 'summary'],
  ],
}

/** Tools without the argument `recording`. */
const takingNone = new Set([
  ...['list_recordings', 'load_recording', 'import_recording'],
  ...['compare_recordings', 'find_first_divergence'],
  ...['list_runs', 'compare_commits', 'find_regression', 'query_runs'],
])

const optional = new Set(['directory', 'start_frame', 'end_frame', 'threshold', 'velocity_threshold'])

verifies('replay:tools', async (t) => {
  const declared = replay.tools.map(({ name }) => name)
  t.ok(Object.keys(original).every((name) => declared.includes(name)))
  const names = readdirSync(fixtures).filter((name) => name.endsWith('.db'))
  const { client, folder } = await openReplay(
    t,
    names.map((name) => name.replace('.db', '')),
  )
  copyFileSync(join(fixtures, 'tumble.csv'), join(folder, 'tumble.csv'))
  for (const { name, inputSchema, example } of replay.tools) {
    const [args = [], answered = []] = original[name] ?? []
    const properties = Object.keys((inputSchema.properties ?? {}) as object)
    t.ok(
      args.every((argument) => properties.includes(argument)),
      `${name}: arguments`,
    )
    const bare = takingNone.has(name)
    t.equal(properties.includes('recording'), !bare, `${name}: takes a recording`)
    const required = (inputSchema.required ?? []) as string[]
    const isRequired = (argument: string): boolean =>
      name === 'get_contact_history' ||
      !(optional.has(argument) || (name === 'check_friction_cone' && argument === 'body_id'))
    if (name in original) t.same(required, args.filter(isRequired), `${name}: required`)
    // `test/apps.test.ts` calls the examples of the other tools.
    if (!(name in original)) continue
    const one = client()
    for (const step of example.before ?? []) await one.call(step.tool, step.args)
    const answer = await one.call(name, example.args)
    t.ok(
      answered.every((member) => member in answer),
      `${name}: the example returns the fields of the original`,
    )
  }
})

t.test("a tool's listing fits into 2 kB, and the app's into 25 kB", async (t) => {
  const sizes = replay.tools
    .filter(({ unlisted }) => unlisted !== true)
    .map((tool) => [tool.name, getSize(tool)] as const)
  t.same(
    sizes.filter(([, bytes]) => bytes > 2000),
    [],
  )
  const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0)
  t.ok(total <= 25_000, `${total} bytes`)
})

t.test('only bookmark, save_baseline and import_recording store data', async (t) => {
  const writing = replay.tools.filter(({ annotations }) => !annotations.readOnlyHint)
  t.same(
    writing.map(({ name }) => name),
    ['import_recording', 'bookmark', 'save_baseline'],
  )
})

verifies(
  'replay:prompts',
  'debug_recording lists diagnose, explain_frame and the evidence, in this order',
  async (t) => {
    const client = (await openReplay(t, ['drop'])).client()
    const messages = await client.prompt('debug_recording', { recording: 'drop', symptom: 'it bounces' })
    const text = JSON.stringify(messages)
    const steps = ['load_recording', 'diagnose', 'explain_frame', 'evidence_calls'].map((step) =>
      text.indexOf(step),
    )
    t.ok(steps.every((at) => at > 0))
    t.same(
      steps,
      steps.toSorted((a, b) => a - b),
    )
    t.match(text, /"drop\\?".*it bounces/)
  },
)

verifies(
  'replay:prompts',
  'compare_before_after starts with the first difference and ends with a baseline',
  async (t) => {
    const client = (await openReplay(t, ['drop', 'stack'])).client()
    const asked = { before: 'drop', after: 'stack', question: 'less bounce' }
    const text = JSON.stringify(await client.prompt('compare_before_after', asked))
    const steps = ['first_only: true', 'diagnose', 'without first_only', 'plot', 'save_baseline']
    const places = steps.map((step) => text.indexOf(step))
    t.ok(places.every((at) => at > 0))
    t.same(
      places,
      places.toSorted((a, b) => a - b),
    )
    t.match(text, /drop.*before.*stack.*after.*less bounce/)
    await t.rejects(client.prompt('compare_before_after', { before: 'drop' }), { code: 'INVALID_PARAMS' })
  },
)

const json = async ({ client }: OpenReplay, uri: string): Promise<Record<string, unknown>> => {
  const contents = await client().read(uri)
  return JSON.parse('text' in contents ? contents.text : '')
}

/** The part of a call context that resources use. */
const context = ({ app }: OpenReplay) =>
  ({ store: app.store, session: {}, signal: new AbortController().signal, progress: () => {} }) as never

const resource = (end: string) => {
  const found = replay.resources.find(({ template }) => template.text.endsWith(end))
  if (found === undefined) throw new Error(`no resource ${end}`)
  return found
}

verifies('replay:resource:metadata', async (t) => {
  const open = await openReplay(t, ['drop', 'stack'])
  t.match(await json(open, 'replay://recordings/drop/metadata'), { recording: 'drop', total_frames: 150 })
  t.same(
    (await resource('/metadata').list(context(open))).map(({ uri }) => uri),
    ['replay://recordings/drop/metadata'],
    'opened recordings are listed',
  )
  t.same((await resource('/metadata').complete('recording', {}, context(open))).toSorted(), ['drop', 'stack'])
  await t.rejects(json(open, 'replay://recordings/missing/metadata'), { code: 'RECORDING_NOT_FOUND' })
})

verifies('replay:resource:frame', async (t) => {
  const open = await openReplay(t, ['drop'])
  const frame = (id: string) => json(open, `replay://recordings/drop/frames/${id}`)
  t.match(await frame('42'), { frame_id: 42, recording: 'drop', states: [{ body_id: 2 }] })
  t.match(await frame('latest'), { frame_id: 150 })
  await t.rejects(frame('151'), { code: 'FRAME_NOT_FOUND' })
  await t.rejects(frame('first'), { code: 'RESOURCE_NOT_FOUND' })
  const ids = await resource('{frame_id}').complete('frame_id', { recording: 'drop' }, context(open))
  t.same([ids[0], ids[1], ids.at(-1), ids.length], ['latest', '1', '150', 151])
  t.same(await resource('{frame_id}').complete('frame_id', {}, context(open)), ['latest'])
})

t.test('a recording without frames does not have a latest frame', async (t) => {
  const open = await openReplay(t, ['zero_frames'])
  const read = json(open, 'replay://recordings/zero_frames/frames/latest')
  await t.rejects(read, { code: 'RESOURCE_NOT_FOUND' })
  const ids = resource('{frame_id}').complete('frame_id', { recording: 'zero_frames' }, context(open))
  t.same(await ids, [])
})

verifies('replay:health:numbers', async (t) => {
  const settings = { snapshotCapBytes: 12_345, recordingsCapBytes: 1_000_000 }
  const app = await openForTest(replay, { dir: t.testdir(), settings })
  t.teardown(() => app.close())
  const { recorder } = app.store as ReplayStore
  const numbers = () => replay.health(app.store)
  t.match(await numbers(), {
    snapshots: 0,
    snapshot_cap_bytes: 12_345,
    preparing: 0,
    runs: 0,
    run_bytes: 0,
    run_cap_bytes: 1_000_000,
  })
  await recorder.write('run', streamLines([runLine, ...frameLines(1, 3)]))
  const live = await numbers()
  t.match(live, { runs: 1, live_runs: 1 })
  t.ok(Number(live.run_bytes) > 0, 'bytes of a live run count')
  await recorder.finish('run')
  t.match(await numbers(), { runs: 1, live_runs: 0 })
  await recorder.remove('run')
  t.match(await numbers(), { runs: 0, run_bytes: 0 })
})
