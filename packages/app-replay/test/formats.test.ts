/** One run as MCAP, as lines and as SQLite. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Recorder } from '../../../recorders/js/recorder.js'
import replay from '../src/index.ts'
import type { ReplayStore } from '../src/store/store.ts'
import { openReplay, recordRun } from './replay-kit.ts'

t.setTimeout(120_000)

const dt = 0.01
const frameCount = 60
const bodies = [
  { id: 1, mass: 2, name: 'ball', inertia: [0.2, 0.2, 0.2] },
  { id: 3, is_environment: true, name: 'floor' },
]
const constants = { dt, gravity: [0, 0, -9.81], lambda_unit: 'N·s' as const, bodies }

/** A ball that rests on the floor for 20 frames, then slides, and is kicked upwards at frame 40. */
const frames = Array.from({ length: frameCount }, (_, index) => {
  const id = index + 1
  const speed = id < 20 ? 0 : 1
  const x = speed * (id - 20) * dt
  const rise = Math.max(0, id - 39)
  const z = 0.5 + 0.3 * rise * dt - 4.905 * (rise * dt) ** 2
  const vertical = rise === 0 ? 0 : 0.3 - 9.81 * rise * dt
  const touches = rise === 0
  return {
    id,
    position: [x, 0, z],
    velocity: [speed, 0, vertical],
    contact: touches
      ? {
          point: [x, 0, 0],
          normal: [0, 0, -1],
          depth: 0.001 * (id % 3),
          impulse: 2 * 9.81 * dt,
        }
      : undefined,
  }
})

const still = { orientation: [1, 0, 0, 0], angular_velocity: [0, 0, 0] }

const lines = [
  { run: constants },
  ...frames.map(({ id, position, velocity, contact }) => ({
    frame_id: id,
    time: id * dt,
    solver: { iterations: id % 7, residual: 1e-9, converged: true },
    bodies: [{ id: 1, position, velocity, ...still }],
    contacts:
      contact === undefined
        ? []
        : [
            {
              a: 1,
              b: 3,
              normal: contact.normal,
              points: [
                {
                  point_a: contact.point,
                  point_b: contact.point,
                  depth: contact.depth,
                  friction_coefficient: 0.5,
                  restitution: 0,
                  tangent1: [1, 0, 0],
                  tangent2: [0, 1, 0],
                  normal_lambda: contact.impulse,
                  tangent1_lambda: 0.001,
                  tangent2_lambda: 0,
                },
              ],
            },
          ],
  })),
]

function writeMcap(file: string): void {
  const parts: Uint8Array[] = []
  const recorder = new Recorder((bytes: Uint8Array) => void parts.push(bytes), constants)
  for (const { id, position, velocity, contact } of frames)
    recorder.frame({
      frame_id: id,
      solver_iterations: id % 7,
      solver_residual: 1e-9,
      solver_converged: true,
      body_id: [1],
      position,
      velocity,
      ...still,
      contacts:
        contact === undefined
          ? []
          : [
              {
                a: 1,
                b: 3,
                point: contact.point,
                normal: contact.normal,
                depth: contact.depth,
                friction: 0.5,
                restitution: 0,
                tangent1: [1, 0, 0],
                tangent2: [0, 1, 0],
                normal_impulse: contact.impulse,
                tangent1_impulse: 0.001,
                tangent2_impulse: 0,
              },
            ],
    })
  recorder.close()
  writeFileSync(file, Buffer.concat(parts))
}

/** Members about the file and how it is written, and lever arms, which an export computes from the points. */
const ofFormat = new Set([
  ...['recording', 'name', 'size_bytes', 'era', 'provenance', 'status', 'svg'],
  ...['lever_arm_a', 'lever_arm_b'],
])

const toComparable = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer).replaceAll('; the recording is finished', ''), (key, value: unknown) =>
    ofFormat.has(key) ? undefined : value,
  )

/** Arguments of each tool that asks about one recording, in addition to its id. */
const questions: Readonly<Record<string, object>> = {
  get_metadata: {},
  tail_recording: { after_frame: 50 },
  get_frame: { frame_id: 30 },
  get_body_state: { body_id: 1, frame_id: 45 },
  compare_body_across_frames: { body_id: 1, frame_a: 10, frame_b: 50 },
  explain_frame: { frame_id: 40, details: true },
  get_body_energy: { body_id: 1 },
  get_system_energy: {},
  find_energy_anomalies: {},
  get_contacts_for_body: { body_id: 1, frame_id: 30 },
  get_contact_history: { body_a_id: 1, body_b_id: 3, start_frame: 1, end_frame: 60 },
  check_friction_cone: { frame_id: 30 },
  check_penetration: { frame_id: 30 },
  check_resting_contact: { frame_id: 10 },
  diagnose: {},
  timeline: {},
  get_solver_diagnostics: {},
  get_series: { series: ['body.1.speed', 'energy.delta'] },
  search_frames: { predicate: 'speed(1) > 0.5 and contact(1, floor)' },
  plot: { series: ['energy.total', 'body.1.speed'] },
  render_frame: { frame_id: 30 },
  assert_invariants: { invariants: { never_below: 0, max_penetration_m: 0.05 } },
}

/** Tools that do not ask about one recording, or that change something, with the reason. */
const otherTools: Readonly<Record<string, string>> = {
  list_recordings: 'lists files',
  load_recording: 'answers as get_metadata',
  import_recording: 'reads files of other tools',
  compare_recordings: 'compared below',
  query_sql: 'asks the tables of a file by their names in its format',
  bookmark: 'stores a note',
  save_baseline: 'stores a baseline',
  list_runs: 'asks summaries of all runs',
  compare_commits: 'asks summaries of all runs',
  find_regression: 'asks summaries of all runs',
  runs_like: 'asks summaries of all runs',
  query_runs: 'asks frames of all runs',
}

t.test('one run as MCAP, lines and SQLite gives equal answers of every tool', async (t) => {
  const opened = await openReplay(t, [])
  const { app, folder, client } = opened
  writeFileSync(join(folder, 'lines.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  writeMcap(join(folder, 'packed.mcap'))
  await recordRun(opened, 'posted', lines)
  const { recorder } = app.store as ReplayStore
  await recorder.finish('posted')
  const { file } = await recorder.export('posted')
  renameSync(file, join(folder, 'tables.db'))
  t.same(
    replay.tools
      .filter(({ unlisted }) => unlisted !== true)
      .map(({ name }) => name)
      .toSorted(),
    [...Object.keys(questions), ...Object.keys(otherTools)].toSorted(),
    'every tool is asked or has a reason',
  )
  const [first = '', ...others] = ['posted', 'lines', 'packed', 'tables']
  for (const [tool, args] of Object.entries(questions)) {
    const ask = async (recording: string) => toComparable(await client().call(tool, { recording, ...args }))
    const expected = await ask(first)
    for (const other of others) t.same(await ask(other), expected, `${tool} of ${other}`)
  }
  const { findings } = await client().call('diagnose', { recording: first })
  t.match(findings, [{}, {}], 'the answers are not empty')
  for (const other of others) {
    const { divergences } = await client().call('compare_recordings', { a: first, b: other })
    t.same(divergences, [], `${other} does not diverge`)
  }
})
