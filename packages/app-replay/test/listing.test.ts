import { readdirSync } from 'node:fs'
import { wireName } from '@causeway/protocol'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import replay from '../src/index.ts'
import { fixtures, openReplay } from './replay-kit.ts'

/** What a client reads of a tool, bytes. */
const cost = (tool: (typeof replay.tools)[number]): number => {
  const { name, about, inputSchema, outputSchema, annotations } = tool
  const listing = {
    name: wireName(replay.name, name),
    description: about,
    inputSchema,
    outputSchema,
    annotations,
  }
  return Buffer.byteLength(JSON.stringify(listing))
}

/** Arguments and answer of each tool, as the original design has them; what is added stands after them. */
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

/** Tools that take no `recording`: they find some, or take two. */
const takingNone = new Set([
  ...['list_recordings', 'load_recording'],
  ...['compare_recordings', 'find_first_divergence'],
])

const optional = new Set(['directory', 'start_frame', 'end_frame', 'threshold', 'velocity_threshold'])

verifies('replay:tools', async (t) => {
  const declared = replay.tools.map(({ name }) => name)
  t.ok(Object.keys(original).every((name) => declared.includes(name)))
  const names = readdirSync(fixtures).filter((name) => name.endsWith('.db'))
  const { client } = await openReplay(
    t,
    names.map((name) => name.replace('.db', '')),
  )
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
    const one = client()
    for (const step of example.before ?? []) await one.call(step.tool, step.args)
    const answer = await one.call(name, example.args)
    t.ok(
      answered.every((member) => member in answer),
      `${name}: its example is answered with the members of the original`,
    )
  }
})

t.test('listing: a tool costs at most 2 kB and the app at most 25 kB', async (t) => {
  const costs = new Map(replay.tools.map((tool) => [tool.name, cost(tool)]))
  t.same(
    [...costs].filter(([, bytes]) => bytes > 2000),
    [],
  )
  t.ok([...costs.values()].reduce((sum, bytes) => sum + bytes, 0) <= 25_000)
})

t.test('listing: every tool only reads, but for notes and baselines', async (t) => {
  const writing = replay.tools.filter(({ annotations }) => !annotations.readOnlyHint)
  t.same(
    writing.map(({ name }) => name),
    ['bookmark', 'save_baseline'],
  )
})
