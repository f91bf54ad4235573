import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import type { Columns, Frame, Recording } from '../../src/index.ts'
import { equalDeep } from '../equal-deep.ts'
import { folders, libraryOver, whole } from '../library-kit.ts'

const folder = process.env.CAUSEWAY_REAL_RECORDINGS
const reason = 'CAUSEWAY_REAL_RECORDINGS names no folder of real recordings'

verifies('recording:real-files', async (t) => {
  for (const name of ['drop', 'friction_slide', 'legacy_notangent']) {
    await t.test(name, { skip: folder ? false : reason }, (t) => checkFile(t, folder ?? '', name))
  }
})

async function checkFile(t: Test, folder: string, name: string): Promise<void> {
  const expected = JSON.parse(readFileSync(join(folder, `${name}.expected.json`), 'utf8'))
  const { files, data } = folders(t)
  copyFileSync(join(folder, `${name}.db`), join(files, `${name}.db`))
  const library = await libraryOver(t, files, { dir: data })
  const { recording } = await library.open(name)
  checkSummary(t, recording, expected)
  await checkSystemEnergy(t, recording, expected)
  await checkBodyEnergy(t, recording, expected)
  await checkSolver(t, recording, expected)
  await checkFrames(t, recording, expected)
  await checkPairs(t, recording, expected)
}

// biome-ignore lint/suspicious/noExplicitAny: the sidecar is data of another program, compared and never relied on
type Expected = any

function checkSummary(t: Test, { summary }: Recording, expected: Expected): void {
  t.match(summary.frames, {
    first_frame: expected.frames.first_id,
    last_frame: expected.frames.last_id,
    total_frames: expected.frames.count,
    contiguous: expected.frames.ids_contiguous,
  })
  near(t, summary.first_time_s, expected.frames.first_time, 'first time')
  near(t, summary.last_time_s, expected.frames.last_time, 'last time')
  t.same(summary.bodies, expected.bodies)
  t.same(
    summary.environment_bodies.map(({ body_id }) => body_id),
    expected.contact_body_ids_without_metadata,
  )
  t.equal(summary.ignored_rows, 0)
  near(t, summary.gravity_m_s2?.z, -9.81, 'gravity')
  near(t, summary.dt_s, 0.016, 'dt')
  t.equal(summary.lambda_unit, expected.tables.FrictionConstraintRecord > 0 ? 'N·s' : 'unknown')
}

async function checkSystemEnergy(t: Test, recording: Recording, expected: Expected): Promise<void> {
  const energy = await recording.systemEnergy(whole)
  const { points, first, second, last, energy_injection_frames } = expected.system_energy
  t.equal(energy.length, points)
  for (const [row, at] of [
    [first, 0],
    [second, 1],
    [last, points - 1],
  ] as const) {
    for (const field of ['frame_id', 'total_system_e', 'delta_e'] as const) {
      near(t, cell(energy, at, field), row[field], `system energy ${field}`)
    }
  }
  const rows = Array.from({ length: energy.length }, (_, i) => i)
  t.same(
    rows.filter((i) => cell(energy, i, 'energy_injection') === 1).map((i) => cell(energy, i, 'frame_id')),
    energy_injection_frames,
  )
  t.equal(
    rows.filter((i) => cell(energy, i, 'collision_active') === 1).length,
    expected.system_energy.collision_active_frames,
  )
  for (const [threshold, { count }] of Object.entries<Expected>(expected.energy_anomalies)) {
    t.equal(rows.filter((i) => Math.abs(cell(energy, i, 'delta_e')) > Number(threshold)).length, count)
  }
}

async function checkBodyEnergy(t: Test, recording: Recording, expected: Expected): Promise<void> {
  for (const [body, series] of Object.entries<Expected>(expected.body_energy)) {
    const energy = await recording.bodyEnergy(Number(body), whole)
    t.equal(energy.length, series.points)
    for (const row of [series.first, series.middle, series.last]) {
      const at = Array.from({ length: energy.length }, (_, i) => i).find(
        (i) => cell(energy, i, 'frame_id') === row.frame_id,
      )
      for (const field of ['linear_ke', 'rotational_ke', 'potential_e', 'total_e'] as const) {
        near(t, cell(energy, at ?? -1, field), row[field], `body ${body} ${field}`)
      }
    }
  }
}

async function checkSolver(t: Test, recording: Recording, expected: Expected): Promise<void> {
  const solver = await recording.solver(whole)
  const rows = Array.from({ length: solver.length }, (_, i) => i)
  t.equal(solver.length, expected.solver.points)
  t.equal(rows.filter((i) => cell(solver, i, 'converged') === 0).length, expected.solver.converged_false)
  t.same(
    rows
      .filter((i) => cell(solver, i, 'converged') === 0 && cell(solver, i, 'num_contacts') > 0)
      .map((i) => cell(solver, i, 'frame_id')),
    expected.solver.converged_false_with_contacts,
  )
  t.equal(Math.max(...rows.map((i) => cell(solver, i, 'iterations'))), expected.solver.max_iterations)
  near(
    t,
    Math.max(...rows.map((i) => cell(solver, i, 'residual'))),
    expected.solver.max_residual.residual,
    'residual',
  )
}

async function checkFrames(t: Test, recording: Recording, expected: Expected): Promise<void> {
  let frictionRows = 0
  let deepest = 0
  for (let id = expected.frames.first_id; id <= expected.frames.last_id; id++) {
    const frame = await recording.frame(id)
    frictionRows += frame.friction_constraints.length
    for (const { penetration_depth } of frame.collisions) deepest = Math.max(deepest, penetration_depth ?? 0)
  }
  t.equal(frictionRows, expected.friction_cone.rows)
  near(t, deepest, expected.penetration.max, 'deepest penetration')
  for (const sample of expected.sample_frames) {
    if (!sample.exists) {
      await t.rejects(recording.frame(sample.frame_id), { code: 'FRAME_NOT_FOUND' })
      continue
    }
    const frame = await recording.frame(sample.frame_id)
    equalDeep(t, part(frame), sample.frame, `frame ${sample.frame_id}`)
  }
}

/** Returns the parts of a frame that the sidecar contains, with the sidecar's fields. */
function part(frame: Frame) {
  return {
    frame_id: frame.frame_id,
    simulation_time: frame.simulation_time,
    states: frame.states.map(({ acceleration, ...state }) => state),
    collisions: frame.collisions,
    friction_constraints: frame.friction_constraints,
    solver: frame.solver,
  }
}

async function checkPairs(t: Test, recording: Recording, expected: Expected): Promise<void> {
  for (const { body_a_id, body_b_id, frames, first, last } of expected.collision_pairs) {
    const history = await recording.pairHistory([body_b_id, body_a_id], whole, 1000)
    t.equal(history.total_frames, frames)
    t.equal(history.frames[0]?.frame_id, first)
    t.equal(history.frames.at(-1)?.frame_id, last)
    t.ok(history.frames.every(({ collision }) => collision !== null))
  }
  for (const { body_a_id, body_b_id, start_frame, end_frame, total_rows } of expected.contact_history) {
    const range = { start: start_frame, end: end_frame }
    const { frames } = await recording.pairHistory([body_a_id, body_b_id], range, 1000)
    t.equal(
      frames.reduce((sum, frame) => sum + frame.friction_constraints.length, 0),
      total_rows,
    )
  }
}

const cell = <Field extends string>({ fields, data }: Columns<Field>, row: number, field: Field): number =>
  data[row * fields.length + fields.indexOf(field)] ?? Number.NaN

const near = (t: Test, found: unknown, wanted: number, name: string) => equalDeep(t, found, wanted, name)
