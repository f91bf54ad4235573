/** Tests of one run in three formats: MCAP, JSON lines, and a database of the C++ recorder. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallToolResult } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { Recorder } from '../../../../recorders/js/recorder.js'
import replay from '../../src/index.ts'
import type { ReplayStore } from '../../src/store/store.ts'
import { openReplay } from '../replay-kit.ts'

t.setTimeout(120_000)

const [dt, g, mass, mu, half, frames] = [0.01, 9.81, 2, 0.5, 0.5, 60]

const run = {
  engine: 'slide',
  dt,
  gravity: [0, 0, -g],
  lambda_unit: 'N·s' as const,
  bodies: [
    {
      id: 1,
      name: 'box',
      mass,
      inertia: [0.4, 0.4, 0.4],
      half_extents: [half, half, half],
      friction: mu,
      restitution: 0,
    },
    {
      id: 2,
      name: 'floor',
      is_environment: true,
      shape: { kind: 'plane' as const },
      position: [0, 0, 0],
      orientation: [1, 0, 0, 0],
    },
  ],
  commit: 'abc',
  branch: 'main',
  scenario: 'slide',
  seed: 7,
  tags: ['nightly'],
  host: 'ci',
  engine_version: '1',
}

interface State {
  readonly frame_id: number
  readonly x: number
  readonly v: number
  readonly friction: number
  readonly before: number
}

/** A box that slides and, in frame 30, gains 1 m/s without a cause. */
function simulate(): readonly State[] {
  const states: State[] = []
  let [x, v] = [0, 2]
  for (let frame_id = 1; frame_id <= frames; frame_id++) {
    const friction = Math.min(mu * mass * g * dt, mass * v)
    const before = x
    v += (frame_id === 30 ? 1 : 0) - friction / mass
    x += v * dt
    states.push({ frame_id, x, v, friction, before })
  }
  return states
}

const toBody = ({ x, v }: State) => ({
  position: [x, 0, half],
  velocity: [v, 0, 0],
  orientation: [1, 0, 0, 0],
  angular_velocity: [0, 0, 0],
})

const toPoint = ({ before, friction }: State) => ({
  // The centre of pressure moves forward, so that the box does not tip.
  point: [before + (half * friction) / (mass * g * dt), 0, 0],
  depth: 0.001,
  restitution: 0,
  tangent1: [1, 0, 0],
  tangent2: [0, 1, 0],
})

const solverAt = (frame_id: number) => ({ iterations: frame_id % 7, residual: 1e-9, converged: true })

function toLine(state: State): object {
  const { frame_id, friction } = state
  const impulses = { normal_lambda: mass * g * dt, tangent1_lambda: -friction, tangent2_lambda: 0 }
  // Lever arms are computed from the point, because the C++ recorder's tables contain them.
  const point = { ...toPoint(state), friction_coefficient: mu, ...impulses }
  return {
    frame_id,
    time: frame_id * dt,
    bodies: [{ id: 1, ...toBody(state) }],
    contacts: [{ a: 1, b: 2, normal: [0, 0, -1], points: [point] }],
    solver: solverAt(frame_id),
  }
}

function writeMcap(file: string): void {
  const parts: Uint8Array[] = []
  const recorder = new Recorder((bytes: Uint8Array) => parts.push(bytes), run)
  for (const state of simulate()) {
    const { frame_id, friction } = state
    const impulses = { normal_impulse: mass * g * dt, tangent1_impulse: -friction, tangent2_impulse: 0 }
    const { position, velocity, orientation, angular_velocity } = toBody(state)
    const { iterations, residual, converged } = solverAt(frame_id)
    recorder.frame({
      frame_id,
      time: frame_id * dt,
      ...{ position: [position], velocity: [velocity] },
      ...{ orientation: [orientation], angular_velocity: [angular_velocity] },
      contacts: [{ a: 1, b: 2, normal: [0, 0, -1], ...toPoint(state), friction: mu, ...impulses }],
      ...{ solver_iterations: iterations, solver_residual: residual, solver_converged: converged },
    })
  }
  recorder.close()
  writeFileSync(file, Buffer.concat(parts))
}

const lines = (): string =>
  [{ run }, ...simulate().map(toLine)].map((line) => `${JSON.stringify(line)}\n`).join('')

/** Exports the run as a database of the C++ recorder. */
async function writeDatabase(file: string, { recorder }: ReplayStore): Promise<void> {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(lines())
  }
  await recorder.write('source', body())
  await recorder.finish('source')
  copyFileSync((await recorder.export('source')).file, file)
  await recorder.remove('source')
}

/** Functions that write the run, by file name. */
const formats: Readonly<Record<string, (file: string, store: ReplayStore) => Promise<void>>> = {
  'run.mcap': async (file) => writeMcap(file),
  'run.jsonl': async (file) => writeFileSync(file, lines()),
  'run.db': writeDatabase,
}

const span = { start_frame: 20, end_frame: 40 }

/** Arguments of the calls of each tool. `file` is the recording's file name. */
const calls: Readonly<Record<string, (file: string) => readonly object[]>> = {
  load_recording: (path) => [{ path }],
  list_recordings: () => [{}],
  get_metadata: () => [{}],
  tail_recording: () => [{ after_frame: 50 }],
  get_frame: () => [{ frame_id: 1 }, { frame_id: 30 }],
  get_body_state: () => [{ body_id: 1, frame_id: 30 }],
  compare_body_across_frames: () => [{ body_id: 1, frame_a: 29, frame_b: 30 }],
  explain_frame: () => [{ frame_id: 30, details: true }],
  get_body_energy: () => [{ body_id: 1, ...span }],
  get_system_energy: () => [{}],
  find_energy_anomalies: () => [{ threshold: 0.1 }],
  get_contacts_for_body: () => [{ body_id: 1, frame_id: 30 }],
  get_contact_history: () => [{ body_a_id: 1, body_b_id: 2, ...span }],
  check_friction_cone: () => [{ frame_id: 30 }],
  check_penetration: () => [{ frame_id: 30, threshold: 0.0005 }],
  check_resting_contact: () => [{ frame_id: 30 }],
  diagnose: () => [{ max_findings: 200 }],
  check_law: () =>
    ['momentum', 'tunnelling', 'jitter', 'restitution', 'numerics', 'joints'].map((law) => ({ law })),
  check_momentum: () => [{}],
  check_tunnelling: () => [{}],
  check_jitter: () => [{}],
  check_restitution: () => [{}],
  check_numerics: () => [{}],
  check_joints: () => [{}],
  timeline: () => [{}],
  find_solver_stalls: () => [{}],
  get_solver_diagnostics: () => [span],
  get_series: () => [{ series: ['body.1.speed', 'energy.delta', 'energy.total'] }],
  get_body_trajectory: () => [{ body_id: 1 }],
  search_frames: () => [{ predicate: 'speed(1) > 0.5 and contact(1, floor)' }],
  compare_recordings: (file) => [{ a: file, b: file }],
  find_first_divergence: (file) => [{ a: file, b: file }],
  plot: () => [{ series: ['energy.total', 'body.1.speed'], mark_frame: 30 }],
  render_frame: () => [{ frame_id: 30 }],
  query_sql: () => [
    { sql: 'SELECT * FROM v_state ORDER BY frame_id', limit: 20 },
    { sql: 'SELECT frame_id, speed FROM v_state WHERE speed > ?', params: [0.5] },
  ],
  bookmark: () => [{ frame_id: 30, note: 'kick' }],
  save_baseline: () => [{ name: 'slide' }],
  assert_invariants: () => [{ invariants: { never_below: 0, max_penetration_m: 0.05 } }],
  list_runs: () => [{}],
  compare_commits: () => [{}],
  find_regression: () => [{ metric: 'bad' }],
  runs_like: (recording) => [{ recording }],
}

/** Tools that are not compared, each with the reason. */
const excluded: Readonly<Record<string, string>> = {
  import_recording: 'it reads files of other programs and stores a run',
  query_runs: 'it needs an optional package, and reads what import and recorders store',
}

t.test('every tool has arguments or a reason for its exclusion', async (t) => {
  t.same(
    [...Object.keys(calls), ...Object.keys(excluded)].toSorted(),
    replay.tools.map(({ name }) => name).toSorted(),
  )
})

/** Members that name or describe the file, and lever arms, which MCAP files do not contain. */
const ofFile = [
  'path',
  'size_bytes',
  'modified',
  'era',
  'recording',
  'name',
  'directory',
  'lever_arm_a',
  'lever_arm_b',
]

/**
 * Members that differ, by tool: list_recordings does not read MCAP files, and pictures of plot contain the file name.
 */
const ofTool: Readonly<Record<string, string>> = { list_recordings: 'total_frames', plot: 'pictures' }

function strip(value: unknown, tool: string): unknown {
  if (typeof value === 'string') return value.replace(/run\.(mcap|jsonl|db)/g, 'run')
  if (Array.isArray(value)) return value.map((item) => strip(item, tool))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([member]) => !ofFile.includes(member) && member !== ofTool[tool])
      .map(([member, own]) => [member, strip(own, tool)]),
  )
}

/** Returns the data and the pictures of a result. Its text is the same data. */
const toData = ({ content, structuredContent }: CallToolResult) => ({
  data: structuredContent,
  pictures: content.filter(({ type }) => type !== 'text'),
})

/** Returns the answers of all tools on a server that has the run in one format. */
async function askAll(t: Test, name: string): Promise<ReadonlyMap<string, unknown>> {
  const { app, client, folder } = await openReplay(t, [])
  await formats[name]?.(join(folder, name), app.store as ReplayStore)
  const one = client()
  await one.call('load_recording', { path: name })
  const answers = new Map<string, unknown>()
  for (const { name: tool } of replay.tools)
    for (const [i, args] of (calls[tool]?.(name) ?? []).entries())
      answers.set(`${tool} ${i}`, strip(toData(await one.answer(tool, args)), tool))
  return answers
}

t.test('every tool answers the same for a run in every format', async (t) => {
  const all: ReadonlyMap<string, unknown>[] = []
  for (const name of Object.keys(formats))
    await t.test(name, async (t) => {
      all.push(await askAll(t, name))
    })
  const [mcap, ...others] = all
  for (const [call, expected] of mcap ?? []) {
    for (const [i, other] of others.entries())
      t.same(other.get(call), expected, `${call}: ${Object.keys(formats)[i + 1]} as run.mcap`)
  }
  const found = { data: { findings: [{ frames: { first: 30 }, bodies: [1] }] } }
  t.match(mcap?.get('diagnose 0'), found, 'the kick is found')
})
